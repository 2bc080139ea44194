// A row of places that are switched on and off: each says what the state makes of it.

export class Switches {
  constructor(figure, lab) {
    Object.assign(this, {lab, places: [...figure.querySelectorAll(".places > li")], settings: figure.dataset});
    lab.addEventListener("numbers", () => this.show());
    if (lab.arrays.size) this.show();
  }

  show() {
    const {switches, verdicts, at} = this.settings;
    const codes = this.lab.arrays.get(switches).data;
    this.places.forEach((place, k) => {
      place.dataset.verdict = codes[k];
      place.classList.toggle("here", this.lab.values[at] === k);
      const said = place.querySelector("small");
      const word = this.lab.labels.axes[verdicts][codes[k]];
      if (said.textContent !== word) said.textContent = word;
    });
  }
}
