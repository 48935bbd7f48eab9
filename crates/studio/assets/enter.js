// The first page after the address with the token: keeps the key and the proof for this origin alone, and goes on.
"use strict";
for (const name of ["studio-key", "studio-proof"]) {
  localStorage.setItem(name, document.querySelector(`meta[name="${name}"]`).content);
}
location.replace("/data");
