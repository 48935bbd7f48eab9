// Dragging: cut points over a histogram, and categories between groups. Everything that can be dragged can also be
// moved with the keyboard and by clicks.
"use strict";

const post = (path, values) => htmx.ajax("POST", path, { target: "#app", swap: "outerHTML", values });

// Cut points.

const cutsOf = (box) => [...box.querySelectorAll(".cut")].map((cut) => `${cut.dataset.at}:${cut.dataset.height}`);

const sendCuts = (box) => post("/hierarchies/cuts", { attribute: box.dataset.attribute, cuts: cutsOf(box).join(",") });

const asText = (value, kind) => {
  if (kind === "date") return new Date(Math.round(value) * 86400000).toISOString().slice(0, 10);
  if (kind === "integer") return String(Math.round(value));
  return String(Number(value.toPrecision(4)));
};

// Shows a cut at a value and a height without sending it yet.
const place = (cut, value, height) => {
  const box = cut.closest(".cuts");
  const [low, high, width] = [Number(box.dataset.low), Number(box.dataset.high), Number(box.dataset.width)];
  value = Math.min(high, Math.max(low, value));
  height = Math.min(Number(box.dataset.heightMax), Math.max(1, height));
  const text = asText(value, box.dataset.kind);
  Object.assign(cut.dataset, { value, at: text, height });
  cut.setAttribute("aria-valuenow", value);
  cut.setAttribute("aria-valuetext", text);
  cut.setAttribute("transform", `translate(${10 + ((width - 20) * (value - low)) / (high - low)} 0)`);
  const [line, circle, label] = [cut.querySelector("line"), cut.querySelector("circle"), cut.querySelector("text")];
  const base = Number(line.getAttribute("y2"));
  const top = base - 140 - 13 * (height - 1);
  line.setAttribute("y1", top);
  circle.setAttribute("cy", top);
  label.setAttribute("y", top - 10);
  label.textContent = text;
};

let dragged = null;

document.addEventListener("pointerdown", (event) => {
  const cut = event.target.closest?.(".cut");
  if (!cut) return;
  event.preventDefault();
  cut.focus();
  dragged = { cut, x: event.clientX, y: event.clientY, value: Number(cut.dataset.value), height: Number(cut.dataset.height), moved: false };
  cut.setPointerCapture?.(event.pointerId);
});

document.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  const box = dragged.cut.closest(".cuts");
  const drawn = box.querySelector("svg").getBoundingClientRect();
  const scale = Number(box.dataset.width) / drawn.width;
  const span = Number(box.dataset.high) - Number(box.dataset.low);
  const value = dragged.value + ((event.clientX - dragged.x) * scale * span) / (Number(box.dataset.width) - 20);
  const height = dragged.height - Math.round(((event.clientY - dragged.y) * scale) / 16);
  dragged.moved ||= Math.hypot(event.clientX - dragged.x, event.clientY - dragged.y) > 2;
  if (dragged.moved) place(dragged.cut, value, height);
});

document.addEventListener("pointerup", () => {
  const last = dragged;
  dragged = null;
  if (last?.moved) sendCuts(last.cut.closest(".cuts"));
});

let soon = 0;
document.addEventListener("keydown", (event) => {
  const cut = event.target.closest?.(".cut");
  if (!cut) return;
  const box = cut.closest(".cuts");
  if (event.key === "Delete" || event.key === "Backspace") {
    event.preventDefault();
    cut.remove();
    sendCuts(box);
    return;
  }
  const span = Number(box.dataset.high) - Number(box.dataset.low);
  const step = box.dataset.kind === "float" ? span / 100 : 1;
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], PageDown: [-10 * step, 0], PageUp: [10 * step, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  place(cut, Number(cut.dataset.value) + move[0], Number(cut.dataset.height) + move[1]);
  clearTimeout(soon);
  soon = setTimeout(() => box.isConnected && sendCuts(box), 450);
});

document.addEventListener("submit", (event) => {
  if (event.target.id !== "add-cut") return;
  event.preventDefault();
  const box = event.target.closest(".cuts");
  const at = event.target.elements.at.value;
  if (at) post("/hierarchies/cuts", { attribute: box.dataset.attribute, cuts: [...cutsOf(box), `${at}:1`].join(",") });
});

// Groups.

const move = (member, group) => {
  const box = document.getElementById("groups");
  post("/hierarchies/move", { attribute: box.dataset.attribute, level: box.dataset.level, member, group });
};

document.addEventListener("dragstart", (event) => {
  const chip = event.target.closest?.(".chip");
  if (!chip) return;
  event.dataTransfer.setData("text/plain", chip.dataset.member);
  event.dataTransfer.effectAllowed = "move";
  chip.classList.add("lifted");
});
document.addEventListener("dragend", () => document.querySelectorAll(".lifted").forEach((chip) => chip.classList.remove("lifted")));
document.addEventListener("dragover", (event) => {
  const group = event.target.closest?.(".group");
  if (!group || !document.querySelector(".lifted")) return;
  event.preventDefault();
  document.querySelectorAll(".group.over").forEach((other) => other.classList.toggle("over", other === group));
  group.classList.add("over");
});
document.addEventListener("drop", (event) => {
  const group = event.target.closest?.(".group");
  const chip = document.querySelector(".lifted");
  if (!group || !chip) return;
  event.preventDefault();
  if (!group.contains(chip)) move(chip.dataset.member, group.dataset.group);
});

document.addEventListener("click", (event) => {
  const chip = event.target.closest?.(".chip");
  if (chip) {
    const was = chip.getAttribute("aria-pressed") === "true";
    document.querySelectorAll(".chip").forEach((other) => other.setAttribute("aria-pressed", "false"));
    chip.setAttribute("aria-pressed", String(!was));
    document.getElementById("groups").classList.toggle("picking", !was);
    return;
  }
  const here = event.target.closest?.("[data-here]");
  const picked = here && document.querySelector('.chip[aria-pressed="true"]');
  if (picked) move(picked.dataset.member, here.dataset.here);
});

// Downloads: a link that works once, since a link cannot carry the key.
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-download]");
  if (!button) return;
  const answer = await fetch("/link", {
    method: "POST",
    headers: { "X-Studio-Key": studio.key, "Content-Type": "application/x-www-form-urlencoded" },
    body: `what=${encodeURIComponent(button.dataset.download)}`,
  });
  const text = await answer.text();
  if (!answer.ok || !text.startsWith("/once/")) return studio.trouble(text || "The studio refused the download.");
  if (button.dataset.open) window.open(text, "_blank", "noopener");
  else location.href = text;
});
