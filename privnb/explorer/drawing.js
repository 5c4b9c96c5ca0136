// A Vega-Lite chart that keeps its drawing while nothing but its rows changes. Bundled with Vega by vl-convert.

const EMBED = { renderer: "svg", actions: false };

function render({ model, el }) {
  let view, form;
  const tell = lodashDebounce((_, box) => {
    model.set("box", box ?? {});
    model.save_changes();
  }, 30);

  async function draw() {
    const { datasets, description, ...rest } = model.get("spec");
    const next = JSON.stringify(rest);
    const boxed = Object.keys(model.get("box")).length > 0; // a box on other rows would hold other numbers
    if (view && next === form && !boxed) {
      for (const [name, rows] of Object.entries(datasets)) view.data(name, structuredClone(rows));
      await view.description(description).runAsync();
    } else {
      view?.finalize();
      [view, form] = [undefined, next];
      el.style.minHeight = `${el.offsetHeight}px`; // the page below stays where it is
      el.replaceChildren();
      if (datasets) {
        ({ view } = await vegaEmbed(el, structuredClone(model.get("spec")), EMBED));
        view.addSignalListener("brush", tell);
        el.style.minHeight = "";
      }
      if (boxed) tell(null, {});
    }
    el.dataset.drawn = Number(el.dataset.drawn ?? 0) + 1;
  }

  let last = Promise.resolve();
  const again = () => (last = last.then(draw).catch(console.error));
  again();
  model.on("change:spec", again);
  // Vega looks at the window alone, before JupyterLab has given its panels their new widths. The 0 makes it look again:
  // a width that equals that of the plot without its axes would be no change to it.
  const sized = new ResizeObserver(() => el.clientWidth && view?.width(0).width(el.clientWidth).runAsync());
  sized.observe(el);
  return () => {
    sized.disconnect();
    model.off("change:spec", again);
    view?.finalize();
  };
}

export default { render };
