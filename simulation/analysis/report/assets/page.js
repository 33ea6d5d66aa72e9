// Draws the charts of the page with Vega-Lite, lets its sliders and menus set their signals, and
// turns light to dark. Everything it shows comes from the JSON of the page; nothing is fetched.
const ink = "var(--ink)", soft = "var(--soft)", line = "var(--line)";
const font = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const config = {
  background: "transparent",
  font,
  aria: false, // each chart is one image with a description, and has a table
  view: { stroke: null },
  axis: {
    labelColor: soft, titleColor: soft, gridColor: line, domainColor: line, tickColor: line,
    labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelOverlap: true,
  },
  legend: {
    orient: "top", labelColor: ink, titleColor: soft, labelFontSize: 12, titleFontSize: 12,
    titleFontWeight: "normal", direction: "horizontal",
  },
  title: { color: ink, anchor: "start", fontSize: 13, fontWeight: 600 },
  text: { color: ink, fontSize: 12 },
  rule: { color: soft },
  line: { strokeWidth: 2 },
};

const quiet = { load: () => Promise.reject(new Error("a report loads nothing")), sanitize: () => Promise.reject(new Error("a report loads nothing")) };

function control(view, input) {
  const output = document.getElementById(`${input.id}-value`);
  const set = () => {
    let value = input.value;
    if (input.type === "range") {
      value = JSON.parse(input.dataset.values)[Number(input.value)];
      output.textContent = String(value);
      input.setAttribute("aria-valuetext", `${input.dataset.label} ${value}`);
    }
    view.signal(input.dataset.signal, value).runAsync();
  };
  input.addEventListener("input", set);
  input.disabled = false;
}

async function draw(place, spec) {
  const columns = place.clientWidth < 560 ? 2 : 4; // of a legend, so that none is cut off
  const result = await vegaEmbed(place, spec, {
    actions: false, renderer: "svg", ast: true, loader: quiet,
    config: { ...config, legend: { ...config.legend, columns } },
    tooltip: { theme: "report" }, logLevel: 1, // errors only
  });
  const picture = place.querySelector("svg");
  picture.setAttribute("aria-hidden", "true"); // the place itself is the image, with its description
  const figure = place.closest(".chart-box");
  figure.querySelectorAll("[data-signal]").forEach((input) => control(result.view, input));
  place.dataset.drawn = "yes";
}

function theme() {
  const button = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  let now = dark ? "dark" : "light";
  const show = () => {
    document.documentElement.dataset.theme = now;
    button.textContent = now === "dark" ? "Light page" : "Dark page";
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    now = now === "dark" ? "light" : "dark";
    show();
  });
  show();
}

// Says of a table that it goes on to the right; one in a fold is measured when it opens.
function wide() {
  const seen = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.toggleAttribute("data-wide", target.scrollWidth > target.clientWidth + 1);
    }
  });
  document.querySelectorAll(".scroll").forEach((place) => seen.observe(place));
}

async function start() {
  theme();
  wide();
  const specs = JSON.parse(document.getElementById("charts").textContent);
  for (const place of document.querySelectorAll("[data-chart]")) {
    place.setAttribute("role", "img");
    try {
      await draw(place, specs[Number(place.dataset.chart)]);
    } catch (error) { // one chart that fails must not take the others with it
      place.textContent = "This chart could not be drawn; its table has the numbers.";
      console.error(error);
    }
  }
  document.documentElement.dataset.drawn = "yes";
}

start();
