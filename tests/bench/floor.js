// The floor: this book's own page, with three tokens computed in the page itself. It stands in for widgets/link.js and answers
// at once, without server and socket; what is left is input, DOM and frame.

function attention(v) {
  const q = [0, 1, 2].flatMap((k) => [v[`q${k}0`], v[`q${k}1`]]);
  const value = [0, 1, 2].flatMap((k) => [v[`v${k}0`], v[`v${k}1`]]);
  const scores = [], weights = [], output = [], entropy = [];
  for (let i = 0; i < 3; i++) {
    const row = [0, 1, 2].map((j) => (q[2 * i] * q[2 * j] + q[2 * i + 1] * q[2 * j + 1]) / (v.scaled ? Math.SQRT2 : 1));
    const most = Math.max(...row);
    const raised = row.map((s) => Math.exp(s - most));
    const sum = raised[0] + raised[1] + raised[2];
    const share = raised.map((e) => e / sum);
    scores.push(...row);
    weights.push(...share);
    for (const c of [0, 1]) output.push(share.reduce((all, w, j) => all + w * value[2 * j + c], 0));
    entropy.push(-share.reduce((all, w) => all + (w ? w * Math.log2(w) : 0), 0));
  }
  const arrays = {query: [[3, 2], q], value: [[3, 2], value], scores: [[3, 3], scores], weights: [[3, 3], weights], output: [[3, 2], output], entropy: [[3], entropy]};
  const body = new Float64Array(Object.values(arrays).flatMap(([, numbers]) => numbers)).buffer;
  return {head: {facts: {max_entropy: Math.log2(3), weight_sum: 1}, arrays: Object.entries(arrays).map(([name, [shape]]) => [name, shape, null, true])}, body};
}

export class Link {
  constructor(early, token, freshToken, onStatus) {
    Object.assign(this, {onStatus, open: false, first: null});
  }
  connect() {
    this.open = true;
    this.onStatus("open");
  }
  ask(message) {
    return Promise.resolve(message.kind === "step" ? attention(message.values) : {head: {error: "none here"}, body: new ArrayBuffer(0)});
  }
  leave() {}
}
