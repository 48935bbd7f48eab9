//! The report in a browser: headless Chromium at the widths of a phone, a laptop and paper, without
//! a message on its console; and axe-core, where Node can run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::metadata::skip;
use crate::running::{Folder, example};

fn chromium() -> Option<String> {
    let named = std::env::var("HEDGEROW_CHROMIUM").ok();
    let names = named.into_iter().chain(["chromium", "chromium-browser", "google-chrome"].map(str::to_owned));
    names
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

fn browse(browser: &str, profile: &Path, arguments: &[&str], page: &str) -> Output {
    let profile = format!("--user-data-dir={}", profile.display());
    let fixed = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--enable-logging=stderr",
        "--v=0",
        "--hide-scrollbars",
        "--disable-dev-shm-usage",
    ];
    Command::new(browser).args(fixed).arg(profile).args(arguments).arg(page).output().unwrap()
}

/// The title of a page that the browser wrote out.
fn title(output: &Output) -> String {
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    title.unwrap_or_default().to_owned()
}

/// A report of one release with everything internal, and one of several releases.
fn reports(folder: &Folder) -> Vec<PathBuf> {
    let policy = example("hospital/policy.toml");
    let policy = policy.to_str().unwrap();
    let run = |arguments: &[&str]| {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    run(&["publish", policy, "-o", "hospital", "--seed", "1"]);
    run(&["report", "hospital", "--policy", policy, "-o", "one.html"]);
    for name in ["revenue", "census"] {
        let policy = example(&format!("departments/{name}.toml"));
        run(&["publish", policy.to_str().unwrap(), "-o", name, "--seed", "1"]);
    }
    run(&["report", "revenue", "census", "-o", "several.html"]);
    vec![folder.path("one.html"), folder.path("several.html")]
}

#[test]
fn a_report_opens_at_every_width_without_a_complaint() {
    let Some(browser) = chromium() else {
        return skip("Chromium is not installed (apt-get install chromium), or HEDGEROW_CHROMIUM names no program");
    };
    let folder = Folder::new();
    for page in reports(&folder) {
        let address = format!("file://{}", page.display());
        let written = std::fs::read_to_string(&page).unwrap();
        let measured = "<script>parent.document.title='WIDTH '+innerWidth</script></body>";
        for width in ["360", "1366"] {
            let copy = page.with_extension(format!("{width}.html"));
            std::fs::write(&copy, framed(&written.replace("</body>", measured), width)).unwrap();
            let picture = page.with_extension(format!("{width}.png"));
            let screenshot = format!("--screenshot={}", picture.display());
            let arguments = [screenshot.as_str(), "--dump-dom", "--window-size=1366,900"];
            let output = browse(&browser, &folder.path("profile"), &arguments, &format!("file://{}", copy.display()));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && picture.metadata().unwrap().len() > 5000, "{width}: {said}");
            assert!(!said.contains("CONSOLE"), "{width}: {said}");
            assert_eq!(title(&output), format!("WIDTH {width}"), "{said}");
        }
        let paper = page.with_extension("pdf");
        let print = [format!("--print-to-pdf={}", paper.display()), "--no-pdf-header-footer".to_owned()];
        let output = browse(&browser, &folder.path("profile"), &print.each_ref().map(String::as_str), &address);
        assert!(std::fs::read(&paper).unwrap().starts_with(b"%PDF"), "{}", String::from_utf8_lossy(&output.stderr));
        // The browser finds the same elements that were written: nothing had to be mended.
        let output = browse(&browser, &folder.path("profile"), &["--dump-dom"], &address);
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        for element in ["<svg", "<table", "<figure", "<tr", "<section"] {
            assert_eq!(dom.matches(element).count(), written.matches(element).count(), "{element}");
        }
    }
}

#[test]
fn axe_finds_nothing_serious() {
    let axe = std::env::var("HEDGEROW_AXE").unwrap_or_default();
    let (Some(browser), Ok(axe)) = (chromium(), std::fs::read_to_string(&axe)) else {
        return skip("Chromium, or axe-core: HEDGEROW_AXE names its axe.min.js (npm install axe-core)");
    };
    let folder = Folder::new();
    for page in reports(&folder) {
        // A copy with the checker in it, which writes what it found into the page's title.
        let run = "axe.run({runOnly:['wcag2a','wcag2aa','wcag21aa']}).then(r=>{document.title='AXE '+JSON.stringify(\
                   r.violations.filter(v=>['serious','critical'].includes(v.impact)).map(v=>[v.id,v.nodes.map(n=>n.html.slice(0,120))]))})\
                   .catch(e=>{document.title='AXE failed '+e})";
        let text = std::fs::read_to_string(&page).unwrap();
        let with_axe = text.replace("</body>", &format!("<script>{axe}</script><script>{run}</script></body>"));
        let copy = page.with_extension("axe.html");
        std::fs::write(&copy, with_axe).unwrap();
        let address = format!("file://{}", copy.display());
        let output =
            browse(&browser, &folder.path("profile"), &["--virtual-time-budget=20000", "--dump-dom"], &address);
        assert_eq!(title(&output), "AXE []", "{}", page.display());
    }
}

/// A release with long names, thirty columns, a warning, and rules with long parameters; and one
/// whose sensitive values are disclosed.
fn demanding_reports(folder: &Folder) -> Vec<PathBuf> {
    let ages = ["0 to 17", "18 to 29", "30 to 49", "50 to 69", "70 or Older"];
    let admissions = ["Admitted from Ambulatory Surgery Unit", "Admitted from Ambulatory Care Clinic", "Urgent"];
    let illnesses =
        ["Pneumonia (except that caused by tuberculosis)", "Septicemia (except in labor)", "Liveborn", "Asthma"];
    let others: Vec<String> =
        (0..26).map(|number| format!("Supplementary.Measurement.Number.{number}.Of.The.Visit")).collect();
    let named = ["Age.Group.At.Admission", "Type.Of.Admission.As.Recorded", "Emergency.Department.Indicator"];
    let mut rows = format!("{},Primary.Diagnosis.Description,{}\n", named.join(","), others.join(","));
    for row in 0..400_usize {
        let mixed = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20;
        let cells: Vec<&str> = (0..26).map(|place| ["a", "b"][(mixed >> place) & 1]).collect();
        let (age, admission, illness) = (ages[mixed % 5], admissions[mixed / 5 % 3], illnesses[mixed / 15 % 4]);
        rows.push_str(&format!("{age},{admission},{},{illness},{}\n", ["Y", "N"][mixed / 60 % 2], cells.join(",")));
    }
    folder.write("wide.csv", rows);
    let quasi = named.map(|name| format!("\"{name}\" = {{ role = \"quasi\" }}\n")).concat();
    let plain: String =
        others.iter().map(|name| format!("\"{name}\" = {{ role = \"plain\", allow-unique = true }}\n")).collect();
    folder.write(
        "wide.toml",
        format!(
            "[source]\npath = \"wide.csv\"\n[attributes]\n{quasi}\"Primary.Diagnosis.Description\" = {{ role = \"sensitive\" }}\n{plain}\
             [[rule]]\nrequire = {{ model = \"k-anonymity\", k = 5 }}\n[[rule]]\nprotect = \"Primary.Diagnosis.Description\"\n\
             require = [{{ model = \"distinct-l-diversity\", l = 2 }}, {{ model = \"alpha-k-anonymity\", alpha = 0.9, k = 2, values = \
             [\"{}\", \"{}\"] }}]\n[publish]\nmethod = \"full-domain\"\nsuppression = 0.05\nloss = \"entropy\"\n",
            illnesses[0], illnesses[1]
        ),
    );
    let run = |arguments: &[&str]| {
        let ran = folder.run(arguments);
        assert!(matches!(ran.code, Some(0 | 4)), "{ran:?}");
    };
    run(&["publish", "wide.toml", "-o", "wide", "--seed", "1", "-q"]);
    run(&["report", "wide", "--policy", "wide.toml", "-o", "wide.html"]);
    for name in ["revenue", "census"] {
        let policy = example(&format!("departments/{name}.toml"));
        run(&["publish", policy.to_str().unwrap(), "-o", name, "--seed", "1", "-q"]);
    }
    run(&["report", "revenue", "census", "-o", "breach.html"]);
    let breach = folder.read("breach.html");
    assert!(breach.contains("Sensitive values are disclosed.") && !breach.contains("All guarantees hold."));
    vec![folder.path("wide.html"), folder.path("breach.html")]
}

/// A page in a frame of some width: a window of the browser is never as narrow as a telephone.
fn framed(page: &str, width: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><style>html{{color-scheme:light dark}}body{{margin:0}}</style>\
         <iframe style=\"border:0;height:900px;width:{width}px\" srcdoc=\"{page}\"></iframe>"
    )
}

/// No page is wider than its screen, no text leaves its picture, no head of a column is broken
/// within a word, and no sentence ends at its colon.
#[test]
fn pages_fit_every_screen() {
    let Some(browser) = chromium() else {
        return skip("Chromium is not installed (apt-get install chromium), or HEDGEROW_CHROMIUM names no program");
    };
    let folder = Folder::new();
    let look = "const found=[];const d=document.documentElement;\
                if(d.scrollWidth>innerWidth)found.push('the page is '+d.scrollWidth+' wide');\
                for(const t of document.querySelectorAll('svg text')){const s=t.closest('svg').getBoundingClientRect(),r=t.getBoundingClientRect();\
                if(r.width>0&&(r.left<s.left-1||r.right>s.right+1||r.top<s.top-2||r.bottom>s.bottom+2))found.push('outside: '+t.textContent)}\
                for(const h of document.querySelectorAll('th')){const range=document.createRange();range.selectNodeContents(h);\
                const words=h.textContent.trim().split(/\\s+/).length;const lines=new Set([...range.getClientRects()].map(r=>Math.round(r.top))).size;\
                if(lines>words)found.push('broken: '+h.textContent)}\
                for(const p of document.querySelectorAll('p'))if(/^(Warning|Not recomputed):\\s*$/.test(p.textContent))found.push('empty: '+p.textContent);\
                parent.document.title='LOOK '+innerWidth+' '+JSON.stringify(found)";
    for page in demanding_reports(&folder) {
        let text = std::fs::read_to_string(&page).unwrap();
        let text = text.replace("</body>", &format!("<script>{look}</script></body>"));
        for width in ["400", "1366", "1920"] {
            let copy = page.with_extension(format!("{width}.html"));
            std::fs::write(&copy, framed(&text, width)).unwrap();
            for dark in [&[][..], &["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]] {
                let fixed = ["--window-size=1920,1000", "--virtual-time-budget=5000", "--dump-dom"];
                let arguments = [&fixed[..], dark].concat();
                let output =
                    browse(&browser, &folder.path("profile"), &arguments, &format!("file://{}", copy.display()));
                assert_eq!(title(&output), format!("LOOK {width} []"), "{}", page.display());
            }
        }
    }
}
