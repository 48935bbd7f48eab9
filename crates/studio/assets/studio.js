// What every page shares: the key on each request, sliders with their fields, dropping files, and keeping the reader's
// place while parts of the page are replaced.
"use strict";

const studio = { key: localStorage.getItem("studio-key") || "", proof: localStorage.getItem("studio-proof") || "" };

// Once the studio has ended, another program may answer on its port: it does not know the proof.
const stranger = "Another program answers where the studio was. Close this page; start the studio again and open its new address.";
studio.isProven = (header) => studio.proof !== "" && header === studio.proof;

// The key stays with this origin; a cookie would go to every port of the host.
document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-Studio-Key"] = studio.key;
});

studio.say = (text) => {
  document.getElementById("status").textContent = text;
};

// Work that ends shows its page anew. Where the reader goes elsewhere meanwhile, that page is shown: of two answers that
// replace the page, the later one would find it replaced already, and do nothing.
let wanted = null;
const isEndOfWork = (element, target) => element.id === "job" && target?.id === "app";
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target, xhr } = event.detail;
  if (wanted && isEndOfWork(elt, target)) event.preventDefault();
  else if (elt.id !== "job" && target?.id === "app") wanted = xhr;
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, target } = event.detail;
  if (wanted && isEndOfWork(requestConfig.elt, target)) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.xhr === wanted) wanted = null;
});

studio.load = (path) => htmx.ajax("GET", path, { target: "#app", swap: "outerHTML" });

document.addEventListener("DOMContentLoaded", () => {
  studio.load(document.getElementById("app").dataset.path + location.search);
});

// Back and forward: pages are not kept in the browser, so the page is fetched again.
window.addEventListener("popstate", () => studio.load(location.pathname + location.search));

const trouble = (text) => {
  let box = document.getElementById("trouble");
  if (!box) {
    box = document.createElement("div");
    box.id = "trouble";
    box.className = "notice bad";
    box.setAttribute("role", "alert");
    document.body.append(box);
  }
  box.textContent = "";
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => box.remove());
  box.append(words, close);
};
studio.trouble = trouble;

document.addEventListener("htmx:sendError", () => {
  trouble("The studio does not answer. If it was ended, start it again and open the new address; the policy is as it was last shown.");
});
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status < 500 && !studio.isProven(event.detail.xhr.getResponseHeader("X-Studio-Proof"))) {
    return trouble("This page is from an earlier run of the studio, or another program answers here. Open the address that the studio printed.");
  }
  const page = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  trouble(page.querySelector("main p")?.textContent || "The studio refused the request.");
});

// The reader's place: open details, and where the keyboard is.
let open = new Set();
let focused = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.shouldSwap && !studio.isProven(event.detail.xhr.getResponseHeader("X-Studio-Proof"))) {
    event.detail.shouldSwap = false;
    return trouble(stranger);
  }
  open = new Set([...document.querySelectorAll("details[open][id]")].map((details) => details.id));
  focused = document.activeElement?.id || null;
  studio.scroll = window.scrollY;
  studio.page = document.getElementById("app")?.dataset.page;
});
document.addEventListener("htmx:afterSwap", () => {
  document.getElementById("trouble")?.remove();
  for (const id of open) {
    const details = document.getElementById(id);
    if (details) details.open = true;
  }
  const app = document.getElementById("app");
  if (studio.page && app?.dataset.page !== studio.page) {
    window.scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  } else {
    window.scrollTo(0, studio.scroll || 0);
    const again = focused && document.getElementById(focused);
    if (again && document.activeElement !== again) again.focus({ preventScroll: true });
  }
  // On a narrow screen the steps scroll: the one that is shown is in view.
  const here = document.querySelector(".steps [aria-current]");
  const steps = here?.closest(".steps");
  if (steps && steps.scrollWidth > steps.clientWidth) steps.scrollLeft = here.offsetLeft - (steps.clientWidth - here.offsetWidth) / 2;
  for (const plot of document.querySelectorAll(".plot")) {
    const mark = plot.querySelector(".picked, .chosen");
    if (mark && plot.scrollWidth > plot.clientWidth) {
      plot.scrollLeft += mark.getBoundingClientRect().x - plot.getBoundingClientRect().x - plot.clientWidth / 2;
    }
  }
  const news = document.querySelector("[data-announce]");
  if (news) studio.say(news.dataset.announce || news.textContent.trim());
});

// A slider and its field show one number; the field is sent.
document.addEventListener("input", (event) => {
  const twin = event.target.dataset?.twin && document.getElementById(event.target.dataset.twin);
  if (twin) twin.value = event.target.value;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  navigator.clipboard?.writeText(document.getElementById(button.dataset.copy).textContent).then(() => studio.say("Copied"));
});

// Files: chosen or dropped, sent one after the other.
studio.upload = async (file, path, zone) => {
  const limit = Number(zone.dataset.limit);
  if (limit && file.size > limit) {
    trouble(`${file.name}: larger than ${Math.round(limit / 1048576)} MiB. Put the file into the folder and name it: hedgerow studio ${file.name}`);
    return false;
  }
  const answer = await fetch("/job?page=data", { headers: { "X-Studio-Key": studio.key } }).catch(() => null);
  if (!studio.isProven(answer?.headers.get("X-Studio-Proof"))) {
    trouble(stranger);
    return false;
  }
  const bar = document.getElementById("upload-progress");
  const name = encodeURIComponent(path || file.name);
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/upload?as=${zone.dataset.upload}&name=${name}&attribute=${encodeURIComponent(zone.dataset.attribute || "")}`);
    request.setRequestHeader("X-Studio-Key", studio.key);
    request.upload.addEventListener("progress", (event) => {
      if (bar && event.lengthComputable) {
        bar.hidden = false;
        bar.value = event.loaded / event.total;
      }
    });
    request.addEventListener("load", () => {
      const problem = request.status === 200 ? request.responseText : "The studio refused the file.";
      if (problem) trouble(problem);
      resolve(!problem);
    });
    request.addEventListener("error", () => {
      trouble(`${file.name}: the upload was interrupted; nothing was kept.`);
      resolve(false);
    });
    request.send(file);
  });
};

const filesOf = async (entry, path, list) => {
  if (entry.isFile) {
    list.push([await new Promise((done, failed) => entry.file(done, failed)), path + entry.name]);
  } else {
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) break;
      for (const inner of some) await filesOf(inner, `${path}${entry.name}/`, list);
    }
  }
};

const send = async (files, zone) => {
  const prefix = zone.dataset.prefix || "";
  for (const [file, path] of files) {
    if (!(await studio.upload(file, prefix + path, zone))) return;
  }
  if (document.getElementById("app").dataset.page === "open") history.pushState({}, "", "/data");
  studio.load(location.pathname + location.search);
};

document.addEventListener("change", (event) => {
  if (event.target.type !== "file" || !event.target.dataset.upload) return;
  send([...event.target.files].map((file) => [file, file.webkitRelativePath || file.name]), event.target);
});
document.addEventListener("dragover", (event) => {
  const zone = event.target.closest?.("[data-upload]");
  if (zone && event.dataTransfer.types.includes("Files")) {
    event.preventDefault();
    zone.classList.add("over");
  }
});
document.addEventListener("dragleave", (event) => event.target.closest?.("[data-upload]")?.classList.remove("over"));
document.addEventListener("drop", async (event) => {
  const zone = event.target.closest?.("[data-upload]");
  if (!zone || !event.dataTransfer.files.length) return;
  event.preventDefault();
  zone.classList.remove("over");
  const list = [];
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  for (const entry of entries) await filesOf(entry, "", list);
  if (!entries.length) for (const file of event.dataTransfer.files) list.push([file, file.name]);
  send(list, zone);
});
// A file dropped beside a zone must not replace the page.
for (const name of ["dragover", "drop"]) {
  window.addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes("Files") && !event.target.closest?.("[data-upload]")) event.preventDefault();
  });
}
