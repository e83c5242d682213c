/**
 * Hands in files in small batches, one after the other, with progress per file. Folders that are
 * dropped are walked through; a file's path in them is its name. Without this the form still works.
 */
const BATCH_FILES = 32;
const BATCH_BYTES = 64 * 1024 * 1024;
const LISTED = 200; // rows of the list; the sum counts them all

const nameOf = (file) => file.path ?? (file.webkitRelativePath || file.name);

function sizeOf({ size }) {
  const units = ["bytes", "KB", "MB", "GB"];
  if (size === 1) return "1 byte";
  const step = size ? Math.min(3, Math.floor(Math.log2(size) / 10)) : 0;
  return `${(size / 1024 ** step).toLocaleString(undefined, { maximumFractionDigits: step ? 1 : 0 })} ${units[step]}`;
}

async function walk(entry, into) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    file.path = entry.fullPath.replace(/^\//, "");
    into.push(file);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const one of some) await walk(one, into);
  }
}

async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  const files = [];
  for (const entry of entries) await walk(entry, files);
  return files;
}

function batches(files) {
  const all = [];
  let size = Infinity;
  for (const file of files) {
    if (size + file.size > BATCH_BYTES || all.at(-1).length >= BATCH_FILES) {
      all.push([]);
      size = 0;
    }
    all.at(-1).push(file);
    size += file.size;
  }
  return all;
}

function send(url, body, token, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("X-CSRFToken", token);
    request.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onerror = () => reject(new Error("the connection broke"));
    request.onload = () => {
      if (request.getResponseHeader("Content-Type")?.startsWith("application/json") && request.status < 300) {
        resolve(JSON.parse(request.responseText));
      } else if (request.status === 403) {
        reject(new Error("your role or login does not cover this; log in again"));
      } else if (request.status === 200) {
        reject(new Error("the login ended; log in again in another tab, then retry"));
      } else {
        reject(new Error(request.getResponseHeader("Content-Type")?.startsWith("text/plain")
          ? request.responseText : `the server answered ${request.status}`));
      }
    };
    request.send(body);
  });
}

class Transfers {
  constructor(place) {
    this.place = place;
    this.list = place.querySelector("[data-list]");
    this.bar = place.querySelector("[data-sum]");
    this.words = place.querySelector("[data-sum-words]");
  }

  begin(files) {
    this.place.hidden = false;
    this.total = Math.max(1, files.reduce((sum, file) => sum + file.size, 0));
    this.count = files.length;
    this.done = 0;
    this.doneFiles = 0;
    this.known = [];
    this.list.replaceChildren();
    this.rows = new Map(files.slice(0, LISTED).map((file) => [file, this.row(file)]));
    this.show(0);
  }

  row(file) {
    const row = document.createElement("li");
    row.innerHTML = '<span class="mono name"></span><span class="state muted"></span>';
    row.firstChild.textContent = nameOf(file);
    row.lastChild.textContent = sizeOf(file);
    this.list.append(row);
    return row;
  }

  /** Every listed file can be taken off again, before anything is sent. */
  offerRemoval(remove) {
    for (const [file, row] of this.rows) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn quiet tight";
      button.textContent = "Remove";
      button.setAttribute("aria-label", `Remove ${nameOf(file)}`);
      button.addEventListener("click", () => remove(file));
      row.lastChild.append(" ", button);
    }
  }

  mark(file, state, text) {
    const row = this.rows.get(file) ?? (state === "refused" ? this.row(file) : null);
    if (!row) return;
    row.dataset.state = state;
    row.lastChild.textContent = text;
  }

  show(loaded) {
    this.bar.value = Math.min(1, (this.done + loaded) / this.total);
    this.words.textContent = `${this.doneFiles.toLocaleString()} of ${this.count.toLocaleString()} file${this.count === 1 ? "" : "s"}`;
  }

  ended(batch, results) {
    batch.forEach((file, place) => {
      const { state, reason } = results[place] ?? { state: "stored", reason: "" };
      this.mark(file, state, state === "stored" ? "handed in" : state === "known" ? "already here" : reason);
      if (state === "known") this.known.push(nameOf(file));
    });
    this.done += batch.reduce((sum, file) => sum + file.size, 0);
    this.doneFiles += batch.length;
    this.show(0);
  }
}

/** Says which files were here before: nothing else on the page changes by them. */
function tellKnown({ known, count }) {
  if (!known.length) return;
  const text = known.length === 1 ? `${known[0]} is already here.`
    : `${known.length.toLocaleString()} of ${count.toLocaleString()} files are already here.`;
  document.body.dispatchEvent(new CustomEvent("notice", { detail: { level: "info", text } }));
}

async function sendBatch(url, batch, more, token, transfers) {
  const body = new FormData();
  if (more) body.append("more", "1");
  else body.append("finish", "1");
  for (const file of batch) {
    body.append("files", file, file.name);
    body.append("path", nameOf(file));
  }
  const size = batch.reduce((sum, file) => sum + file.size, 0);
  const answer = await send(url, body, token, (share) => {
    transfers.show(share * size);
    let before = 0;
    for (const file of batch) {
      const own = Math.min(1, Math.max(0, (share * size - before) / Math.max(1, file.size)));
      transfers.mark(file, "sending", own < 1 ? `${Math.floor(own * 100)} %` : "stored, being checked");
      before += file.size;
    }
  });
  transfers.ended(batch, answer.files);
}

async function handIn(form, files) {
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const transfers = new Transfers(form.querySelector("[data-transfers]"));
  transfers.begin(files);
  form.classList.add("sending");
  form.setAttribute("aria-busy", "true"); // once.js lets nobody send it twice
  let leaving = false;
  let { action: url } = form;
  let { page } = form.dataset;
  let current = [];
  try {
    if ("creates" in form.dataset) {
      const fields = new FormData(form);
      fields.delete("files");
      fields.append("to_come", files.length);
      ({ page, upload: url } = await send(url, fields, token, () => {}));
      // Should the rest fail, another try goes on with the same incident.
      form.action = url;
      form.dataset.page = page;
      delete form.dataset.creates;
    }
    const all = batches(files);
    for (const [place, batch] of all.entries()) {
      current = batch;
      await sendBatch(url, batch, place < all.length - 1, token, transfers);
    }
    tellKnown(transfers);
    leaving = Boolean(page);
    if (page) location.assign(page);
    else document.body.dispatchEvent(new CustomEvent("changed"));
  } catch (error) {
    for (const file of current) transfers.mark(file, "refused", error.message);
    transfers.words.textContent += `. Stopped: ${error.message}. What was handed in is kept; choose the rest again.`;
    if (page) transfers.words.insertAdjacentHTML("beforeend", ` <a href="${encodeURI(page)}">Open the incident</a>`);
  } finally {
    form.classList.remove("sending");
    if (!leaving) form.removeAttribute("aria-busy");
  }
}

const prepared = new WeakSet();

function prepare(form) {
  if (prepared.has(form)) return;
  prepared.add(form);
  const zone = form.querySelector("[data-drop]");
  const input = form.querySelector("input[type=file]");
  const creates = "creates" in form.dataset;
  let chosen = [];

  form.querySelector("[data-plain]")?.toggleAttribute("hidden", !creates);
  const showChosen = () => {
    const transfers = new Transfers(form.querySelector("[data-transfers]"));
    transfers.begin(chosen);
    transfers.place.hidden = !chosen.length;
    transfers.words.textContent = `${chosen.length.toLocaleString()} file${chosen.length === 1 ? "" : "s"} chosen`;
    transfers.offerRemoval((file) => {
      chosen = chosen.filter((one) => one !== file);
      showChosen();
    });
  };
  const take = (files) => {
    if (!files.length) return;
    chosen = creates ? [...chosen, ...files] : files;
    if (creates) showChosen();
    else handIn(form, chosen);
  };
  input.addEventListener("change", () => {
    take([...input.files]);
    input.value = "";
  });
  for (const kind of ["dragenter", "dragover"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(await dropped(event.dataTransfer));
  });
  form.addEventListener("submit", (event) => {
    if (!chosen.length) return; // a plain form: nothing but fields
    event.preventDefault();
    if (form.reportValidity()) handIn(form, chosen);
  });
}

document.querySelectorAll("form[data-upload]").forEach(prepare);
document.addEventListener("htmx:load", (event) => {
  if (event.target.matches("form[data-upload]")) prepare(event.target);
  else event.target.querySelectorAll("form[data-upload]").forEach(prepare);
});
