/** Renews a replay's page while a worker is at it, and says when it has ended. */
const box = document.getElementById("replay");
const EVERY = 1500;

function running() {
  return box.querySelector("[data-running]")?.dataset.running === "yes";
}

async function renew() {
  try {
    const answer = await fetch(box.dataset.state, { headers: { Accept: "text/html" } });
    if (answer.redirected || !answer.ok) throw new Error(answer.statusText);
    box.innerHTML = await answer.text();
  } catch {
    // the next round tries again: the replay goes on whether or not this page sees it
  }
  if (running()) setTimeout(renew, EVERY);
  else document.getElementById("cancel-replay")?.remove();
}

if (running()) setTimeout(renew, EVERY);
