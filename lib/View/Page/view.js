// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page's own program. lib/View/ViewData.cpp says what the data looks like.
// Only the part that can be seen is laid out and drawn.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const texts = data.texts;
const $ = id => document.getElementById(id);

/* ---- Model ---------------------------------------------------------------- */

// A part with more items than this is divided into groups of neighbours.
const MAX_ITEMS = 90;
const GROUP_SIZE = 30;
// As much is unfolded at the start as fits into this many boxes; a part that is
// most of what is shown may have more.
const MAX_START = 40;
const MAX_MAIN = 120;
// A value that goes to more boxes than this is named at each instead of drawn.
const MAX_FAN_OUT = 5;
// Beyond this many boxes a simpler layout is used, and then none at all.
const MAX_CAREFUL = 160;
const MAX_LAYOUT = 1500;

const shortName = name => name.replace(/^coreai\.(decomposable\.)?/, '')
  .replace(/^broadcasting_/, '');

const KINDS = [
  ['compute', /matmul|conv|linear|einsum|gather_mm|scaled_dot/],
  ['state', /handle|token|buffer/],
  ['control', /^(if|while|for|cond|isolated_group|yield|condition)/],
  ['composite', /^invoke/],
  ['reduce', /reduce|softmax|norm|argm|cumsum|cumulative|pool|top_?k|sort/],
  ['shape', /reshape|transpose|slice|concat|expand|shrink|gather|scatter|pad|tile|split|stack|squeeze|broadcast_|shape|cast|resize|reverse|non_zero|get_dim/],
];

function kindOf(op) {
  if (op.callee !== undefined) return 'composite';
  if (op.short === 'output') return 'port';
  for (const [kind, pattern] of KINDS) if (pattern.test(op.short)) return kind;
  return 'elementwise';
}

let nextKey = 0;

/** A part of a graph that can be folded. */
class Part {
  constructor(label, type, parent, graph) {
    Object.assign(this, {label, type, parent, graph, items: [], key: nextKey++,
      open: false, listed: false, depth: parent ? parent.depth + 1 : 0});
    this.children = new Map();
    this.ops = 0; this.bytes = 0;
  }
  child(key, label, type) {
    let part = this.children.get(key);
    if (!part) {
      part = new Part(label, type, this, this.graph);
      this.children.set(key, part);
      this.items.push(part);
    }
    return part;
  }
  get parts() { return this.items.filter(item => item instanceof Part); }
  contains(other) {
    for (let part = other; part; part = part.parent) if (part === this) return true;
    return false;
  }
}

function modulePath(number) {
  const path = [];
  for (let i = number; i >= 0; i = data.modules[i][0]) path.unshift(i);
  return path;
}

function buildGraph(source, index) {
  const graph = {index, name: source.name, composite: source.composite,
    declaration: source.declaration, isPrivate: source.private, values: [], ops: []};
  const port = ([name, type, state]) => ({name: texts[name], type: texts[type], state});
  graph.inputs = source.inputs.map(port);
  graph.outputs = source.outputs.map(port);
  graph.root = new Part(graph.composite || graph.name, 'graph', null, graph);
  graph.inputs.forEach((input, i) => {
    graph.values[i] = {type: input.type, users: [], port: input, number: i};
  });
  source.ops.forEach((raw, i) => {
    const name = texts[raw.n];
    const op = {graph, index: i, name, short: shortName(name), operands: raw.o || [],
      id: raw.id, node: raw.t === undefined ? '' : texts[raw.t],
      lines: (raw.l || []).map(line => texts[line]), attributes: raw.a || [],
      callee: raw.c, parentOp: raw.p, region: raw.g, module: raw.m, bytes: raw.w || 0,
      weight: raw.k === undefined ? '' : texts[raw.k], isConstant: name === 'coreai.constant',
      key: nextKey++};
    graph.ops.push(op);
    op.results = (raw.r || []).map((type, j) => {
      graph.values[raw.v + j] = {type: texts[type], users: [], op, number: raw.v + j};
      return raw.v + j;
    });
    for (const [, value, type] of raw.b || [])
      graph.values[value] = {type: texts[type], users: [], blockOf: op, number: value};
  });
  for (const op of graph.ops) {
    op.kind = kindOf(op);
    if (op.callee !== undefined) {
      const called = data.graphs[op.callee];
      op.title = called.composite || called.name;
    } else op.title = op.short;
    for (const value of op.operands)
      if (graph.values[value]) graph.values[value].users.push(op);
    if (!op.isConstant) placeOp(graph, op);
  }
  for (const op of graph.ops)
    if (op.isConstant) {
      const user = graph.values[op.results[0]].users.find(use => !use.isConstant);
      op.part = user ? user.part : graph.root;
      for (let part = op.part; part; part = part.parent) part.bytes += op.bytes;
    }
  divide(graph.root);
  return graph;
}

/** The part that an operation belongs to: its modules, or a region. */
function placeOp(graph, op) {
  let part = graph.root;
  const owner = op.parentOp === undefined ? null : graph.ops[op.parentOp];
  if (owner) {
    part = owner.part.child('op' + owner.index, owner.short, 'control');
    part.owner = owner;
    const names = owner.short === 'if' ? ['then', 'else']
      : owner.short.startsWith('while') ? ['condition', 'body'] : [];
    part = part.child(op.region || 0, names[op.region || 0] || 'region ' + (op.region || 0), 'region');
  } else if (!graph.composite && op.module !== undefined) {
    for (const module of modulePath(op.module)) {
      const [, label, className] = data.modules[module];
      part = part.child('m' + module, texts[label], 'module');
      part.className = texts[className];
    }
  }
  op.part = part;
  part.items.push(op);
  for (let up = part; up; up = up.parent) up.ops++;
}

/** Groups of neighbours for parts that have too many items to be drawn. */
function divide(part) {
  for (const child of part.parts) divide(child);
  if (part.items.length <= MAX_ITEMS) return;
  const groups = [];
  const size = Math.max(GROUP_SIZE, Math.ceil(part.items.length / MAX_ITEMS));
  for (let i = 0; i < part.items.length; i += size) {
    const items = part.items.slice(i, i + size);
    const group = new Part(`items ${i} – ${i + items.length - 1}`, 'group', part, part.graph);
    group.items = items;
    for (const item of items) {
      if (item instanceof Part) {
        item.parent = group;
        group.ops += item.ops;
        group.bytes += item.bytes;
      } else {
        item.part = group;
        group.ops++;
      }
    }
    groups.push(group);
  }
  part.items = groups;
  deepen(part);
}

function deepen(part) {
  for (const child of part.parts) {
    child.depth = part.depth + 1;
    deepen(child);
  }
}

const graphs = data.graphs.map(buildGraph);
const entries = graphs.filter(graph => !graph.isPrivate);
const others = graphs.filter(graph => graph.isPrivate);

/* ---- Colours by error or time ------------------------------------------------ */

const number = value => value === null ? NaN : value === 'inf' ? Infinity
  : value === '-inf' ? -Infinity : value;

const measures = {};
for (const [name, label, unit, source] of [
  ['errors', 'Error', '', data.errors], ['times', 'Time', ' ms', data.times]]) {
  if (!source) continue;
  const measure = {name, label, unit, of: new Map()};
  for (const graph of graphs)
    for (const op of graph.ops)
      if (op.id !== undefined && source[op.id] !== undefined)
        measure.of.set(op, number(source[op.id]));
  const join = name === 'times' ? (a, b) => a + b
    : (a, b) => Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b);
  measure.parts = new Map();
  for (const [op, value] of measure.of)
    for (let part = op.part; part; part = part.parent)
      measure.parts.set(part, measure.parts.has(part) ? join(measure.parts.get(part), value) : value);
  measure.most = part => Math.max(...(part.parent ? part.parent.parts : [part])
    .map(other => measure.parts.get(other) || 0));
  const finite = [...measure.of.values()].filter(value => Number.isFinite(value));
  measure.max = Math.max(...finite, 0);
  const positive = finite.filter(value => value > 0);
  measure.min = positive.length ? Math.min(...positive) : 0;
  measure.total = finite.reduce((a, b) => a + b, 0);
  measures[name] = measure;
}
let colouring = measures.errors ? 'errors' : measures.times ? 'times' : 'kind';

const valueOf = (measure, item) =>
  item instanceof Part ? measure.parts.get(item) : measure.of.get(item);

/** 0 to 1, or undefined where nothing was measured. */
function heat(measure, item) {
  const value = valueOf(measure, item);
  if (value === undefined || Number.isNaN(value)) return undefined;
  if (value === Infinity) return 1;
  if (measure.name === 'times') {
    // Times add up: a part is compared with those next to it.
    const most = item instanceof Part ? measure.most(item) : measure.max;
    return most ? Math.min(1, Math.sqrt(value / most)) : 0;
  }
  if (value <= 0 || !measure.max) return 0;
  // Errors differ by orders of magnitude.
  const low = Math.log10(Math.max(measure.min, measure.max * 1e-8));
  const high = Math.log10(measure.max);
  return high > low ? Math.max(0, Math.min(1, (Math.log10(value) - low) / (high - low))) : 1;
}

function heatColour(t) {
  const stops = [[214, 234, 216], [250, 226, 150], [245, 158, 92], [224, 72, 72]];
  const x = t * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(x)), f = x - i;
  return `rgb(${stops[i].map((from, c) => Math.round(from + (stops[i + 1][c] - from) * f)).join(' ')})`;
}

function format(measure, value) {
  if (value === undefined) return '';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'not compared' : '∞';
  const digits = value === 0 ? '0' : Math.abs(value) < 0.01 || Math.abs(value) >= 1e5
    ? value.toExponential(1) : String(+value.toPrecision(3));
  return digits + measure.unit;
}

/* ---- Small helpers ------------------------------------------------------------ */

function bytes(count) {
  if (!count) return '';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  while (count >= 1000 && i < units.length - 1) { count /= 1000; i++; }
  return (count >= 100 || !i ? count.toFixed(0) : count.toFixed(1)) + ' ' + units[i];
}

const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

function element(tag, properties = {}, ...children) {
  const result = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === 'class') result.className = value;
    else if (key.startsWith('on')) result.addEventListener(key.slice(2), value);
    else if (key in result && key !== 'style') result[key] = value;
    else result.setAttribute(key, value);
  }
  result.append(...children.filter(child => child !== null && child !== undefined && child !== ''));
  return result;
}

function svg(tag, attributes = {}, ...children) {
  const result = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) result.setAttribute(key, value);
  result.append(...children);
  return result;
}

/** The class of a module, where its label does not say it. */
const classOf = part => part.className && !part.label.startsWith(part.className) ? part.className : '';
const fileOf = line => line.replace(/^.*\//, '');

/** Draws only the rows that can be seen. */
class List {
  constructor(host) {
    this.host = host;
    this.rows = [];
    this.space = element('div', {class: 'space'});
    host.append(this.space);
    host.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(host);
  }
  show(rows, height, keepPlace) {
    this.rows = rows;
    this.height = height;
    this.space.style.height = rows.length * height + 'px';
    if (!keepPlace) this.host.scrollTop = 0;
    this.draw();
  }
  draw() {
    const {scrollTop, clientHeight} = this.host;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - 4);
    const last = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / this.height) + 4);
    const drawn = [];
    for (let i = first; i < last; i++) {
      const row = this.rows[i].draw();
      row.style.top = i * this.height + 'px';
      row.style.height = this.height + 'px';
      drawn.push(row);
    }
    this.space.replaceChildren(...drawn);
    if (!this.rows.length) this.space.append(element('div', {class: 'empty'}, this.message || 'Nothing here.'));
  }
  reveal(i) {
    const top = i * this.height, {scrollTop, clientHeight} = this.host;
    if (top < scrollTop) this.host.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight)
      this.host.scrollTop = top + this.height - clientHeight;
    this.draw();
  }
}

/* ---- State ----------------------------------------------------------------- */

let focus = (entries[0] || graphs[0] || {}).root;
let selected = null;
let tab = 'Modules';
const list = new List($('list'));

/** Unfolds what fits, the outer parts first. */
function unfoldSome(part) {
  let count = part.items.length;
  const queue = [...part.parts];
  for (const child of queue) child.open = false;
  while (queue.length) {
    queue.sort((a, b) => a.depth - b.depth || b.ops - a.ops);
    const next = queue.shift();
    const limit = next.ops > part.ops / 2 ? MAX_MAIN : MAX_START;
    if (count - 1 + next.items.length > limit) continue;
    // Repeated layers are a picture of their own.
    const twins = next.parent.parts.filter(other => other.className === next.className);
    if (twins.length > 3 && next.className) continue;
    next.open = true;
    count += next.items.length - 1;
    for (const child of next.parts) { child.open = false; queue.push(child); }
  }
}

function goTo(part, item = part) {
  focus = part;
  unfoldSome(part);
  select(item, false);
  for (let up = part; up; up = up.parent) up.listed = true;
  refresh(true);
}

function select(item, redraw = true) {
  selected = item;
  showDetails();
  if (redraw) { markSelected(); drawList(true); }
}

/** Shows an operation or a part wherever it is. */
function reveal(item) {
  const part = item instanceof Part ? item.parent || item : item.part;
  if (!focus.contains(part) || focus.graph !== part.graph) {
    focus = part;
    unfoldSome(part);
  }
  for (let up = part; up && up !== focus; up = up.parent) up.open = true;
  for (let up = part; up; up = up.parent) up.listed = true;
  selected = item;
  showDetails();
  refresh(false);
  centre(item);
}

function refresh(fit) {
  drawPath();
  drawGraph(fit);
  drawList(true);
}

/* ---- Lists on the left ------------------------------------------------------- */

function treeRows() {
  const rows = [];
  const add = (part, depth, label) => {
    const hasParts = part.parts.length > 0;
    rows.push({part, draw: () => treeRow(part, depth, label, hasParts)});
    if (part.listed) for (const child of part.parts) add(child, depth + 1);
  };
  for (const graph of entries) add(graph.root, 0);
  if (others.length) {
    const kinds = new Map();
    for (const graph of others) {
      const kind = graph.composite || 'Other graphs';
      if (!kinds.has(kind)) kinds.set(kind, []);
      kinds.get(kind).push(graph);
    }
    rows.push({draw: () => element('div', {class: 'row head'}, 'Composites and other graphs')});
    for (const [kind, members] of [...kinds].sort()) {
      const open = openKinds.has(kind);
      rows.push({draw: () => element('div', {class: 'row', onclick: () => {
        if (open) openKinds.delete(kind); else openKinds.add(kind);
        drawList(true);
      }}, element('span', {class: 'twist'}, open ? '▼' : '▶'),
      element('span', {class: 'dot', style: 'background: var(--composite-line)'}),
      element('span', {class: 'label'}, kind),
      element('span', {class: 'end'}, plural(members.length, 'graph')))});
      if (open) for (const graph of members) add(graph.root, 1, graph.name);
    }
  }
  return rows;
}
const openKinds = new Set();

function treeRow(part, depth, label, hasParts) {
  const measure = measures[colouring];
  const t = measure && heat(measure, part);
  const row = element('div', {
    class: 'row' + (selected === part || focus === part ? ' selected' : ''),
    'data-part': part.label, role: 'treeitem',
    onclick: () => goTo(part),
  },
  element('span', {style: `width: ${depth * 14}px; flex: none`}),
  element('button', {class: 'twist', tabIndex: -1, 'aria-label': part.listed ? 'Fold' : 'Unfold',
    style: hasParts ? '' : 'visibility: hidden',
    onclick: event => {
      event.stopPropagation();
      part.listed = !part.listed;
      drawList(true);
    }}, part.listed ? '▼' : '▶'),
  t === undefined ? '' : element('span', {class: 'dot', style: `background: ${heatColour(t)}`}),
  element('span', {class: 'label'}, label || part.label),
  element('span', {class: 'dim'}, classOf(part)),
  element('span', {class: 'end'}, measure ? format(measure, valueOf(measure, part)) : String(part.ops)));
  row.title = `${part.label}: ${plural(part.ops, 'operation')}${part.bytes ? ', ' + bytes(part.bytes) : ''}`;
  return row;
}

let weightRowsCache = null;
function weightRows() {
  if (weightRowsCache) return weightRowsCache;
  const weights = [];
  for (const graph of graphs) for (const op of graph.ops)
    if (op.isConstant && op.bytes) weights.push(op);
  weights.sort((a, b) => b.bytes - a.bytes);
  const largest = weights.length ? weights[0].bytes : 1;
  weightRowsCache = weights.map(op => ({op, draw: () => element('div', {
    class: 'row' + (selected === op ? ' selected' : ''), onclick: () => reveal(op),
    'data-weight': op.weight,
  }, element('span', {class: 'two'},
    element('span', {}, op.weight || op.node || 'constant'),
    element('span', {class: 'dim'}, typeOf(op))),
  element('span', {class: 'end'}, bytes(op.bytes)),
  element('span', {class: 'bar', style: `width: ${100 * op.bytes / largest}%`}))}));
  return weightRowsCache;
}

const typeOf = op => op.results.length ? op.graph.values[op.results[0]].type : '';

function portRows() {
  const rows = [];
  const head = text => rows.push({draw: () => element('div', {class: 'row head'}, text)});
  for (const graph of entries) {
    const groups = [['inputs', graph.inputs.filter(port => !port.state)],
      ['states', graph.inputs.filter(port => port.state)],
      ['outputs', graph.outputs.filter(port => !port.state)]];
    for (const [title, ports] of groups) {
      if (!ports.length) continue;
      head(`${graph.name}: ${title}`);
      for (const port of ports) rows.push({draw: () => element('div', {class: 'row',
        onclick: () => {
          const users = title === 'outputs' ? [] : graph.values[graph.inputs.indexOf(port)].users;
          if (users.length) reveal(users[0]); else goTo(graph.root);
        }},
      element('span', {class: 'dot', style: `background: var(--${port.state ? 'state-line' : 'port-line'})`}),
      element('span', {class: 'two'}, element('span', {}, port.name || '(unnamed)'),
        element('span', {class: 'dim'}, port.type)))});
    }
  }
  return rows;
}

function frequencyRows() {
  const counts = new Map();
  for (const graph of graphs) for (const op of graph.ops)
    counts.set(op.short, (counts.get(op.short) || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return sorted.map(([name, count]) => ({draw: () => element('div', {class: 'row',
    onclick: () => { $('search').value = 'op:' + name; search(); $('search').focus(); }},
  element('span', {class: 'dot', style: `background: var(--${kindOf({short: name})}-line)`}),
  element('span', {class: 'label'}, name), element('span', {class: 'end'}, count.toLocaleString('en')),
  element('span', {class: 'bar', style: `width: ${100 * count / sorted[0][1]}%`}))}));
}

const TABS = {Modules: [treeRows, 28], Weights: [weightRows, 44], 'In/out': [portRows, 44], Ops: [frequencyRows, 30]};

function drawList(keepPlace) {
  if (results) {
    list.message = 'Nothing matches.';
    list.show(results.map((result, i) => ({draw: () => resultRow(result, i)})), 44, keepPlace);
    return;
  }
  const [rows, height] = TABS[tab];
  list.message = tab === 'Weights' ? 'No weights.' : 'Nothing here.';
  list.show(rows(), height, keepPlace);
}

for (const name of Object.keys(TABS))
  $('tabs').append(element('button', {role: 'tab', 'aria-selected': String(name === tab), onclick: event => {
    tab = name;
    $('search').value = '';
    results = null;
    for (const button of $('tabs').children) button.setAttribute('aria-selected', String(button === event.target));
    drawList(false);
  }}, name));

/* ---- Search -------------------------------------------------------------------- */

let results = null, chosen = 0, index = null;

function buildIndex() {
  index = [];
  for (const graph of graphs) {
    const visit = part => {
      if (part !== graph.root && part.type !== 'group')
        index.push({item: part, text: [part.label, classOf(part)].join('\n').toLowerCase(), rank: 0});
      for (const child of part.parts) visit(child);
    };
    visit(graph.root);
    for (const op of graph.ops)
      index.push({item: op, rank: 1, text: [op.title, op.name, op.node, op.weight, typeOf(op),
        op.id === undefined ? '' : '#' + op.id, graph.name, ...op.lines].join('\n').toLowerCase()});
  }
}

function search() {
  const query = $('search').value.trim().toLowerCase();
  if (!query) { results = null; drawList(false); return; }
  if (!index) buildIndex();
  if (query.startsWith('op:')) {
    const name = query.slice(3);
    results = index.filter(entry => entry.item.short === name).map(entry => entry.item);
  } else {
    const words = query.split(/\s+/);
    // What begins with the query comes first, then what has it in its name.
    const score = entry => entry.text.startsWith(query) ? 0 : entry.text.split('\n')[0].includes(query) ? 1 : 2;
    results = index.filter(entry => words.every(word => entry.text.includes(word)))
      .map((entry, i) => ({entry, i, score: score(entry)}))
      .sort((a, b) => a.score - b.score || a.i - b.i).map(({entry}) => entry.item);
  }
  chosen = 0;
  drawList(false);
}

function resultRow(item, i) {
  const isPart = item instanceof Part;
  const where = isPart ? [classOf(item), plural(item.ops, 'operation')].filter(Boolean).join(' · ')
    : [item.node, item.lines.length ? fileOf(item.lines[0]) : ''].filter(Boolean).join(' · ') || item.graph.name;
  return element('div', {class: 'row' + (i === chosen ? ' selected' : ''), 'data-result': i,
    onclick: () => { chosen = i; openResult(); }},
  element('span', {class: 'dot', style: `background: var(--${isPart ? 'module' : item.isConstant ? 'port' : item.kind}-line)`}),
  element('span', {class: 'two'},
    element('span', {}, isPart ? item.label : item.isConstant ? item.weight || 'constant' : item.title),
    element('span', {class: 'dim'}, where)),
  element('span', {class: 'end'}, isPart ? '' : typeOf(item)));
}

function openResult() {
  const item = results && results[chosen];
  if (!item) return;
  if (item instanceof Part) goTo(item); else reveal(item);
  drawList(true);
}

/* ---- The graph ------------------------------------------------------------------- */

const canvas = document.createElement('canvas').getContext('2d');
const FONT = getComputedStyle(document.body).fontFamily;
const widths = new Map();
function textWidth(text, size) {
  const key = size + text;
  if (!widths.has(key)) {
    canvas.font = `${size}px ${FONT}`;
    widths.set(key, canvas.measureText(text).width);
  }
  return widths.get(key);
}

const clip = (text, length) => text.length > length ? text.slice(0, length - 1) + '…' : text;
// The end of a path is what tells modules apart.
const clipStart = (text, length) => text.length > length ? '…' + text.slice(1 - length) : text;

/** The boxes of the selected part and what connects them. */
function visibleBoxes() {
  const boxes = new Map(), edges = new Map(), groups = [];
  const place = (item, parent) => {
    if (item instanceof Part && item.open) {
      // A part that is all of the part around it needs no frame.
      const alone = item.parent.items.filter(other => other.short !== 'output').length === 1;
      const frame = alone ? parent : item;
      if (!alone) groups.push({part: item, parent});
      for (const child of item.items) place(child, frame);
    } else boxes.set(item.key, box(item, parent));
  };
  for (const item of focus.items) place(item, null);

  const shown = item => {
    // The outermost folded part around an operation.
    let best = boxes.has(item.key) ? item : null;
    for (let part = item.part; part && part !== focus; part = part.parent) if (!part.open) best = part;
    return best && boxes.has(best.key) ? best : null;
  };
  const connect = (from, to, value) => {
    if (from === to) return;
    const key = from + '>' + to;
    if (!edges.has(key)) edges.set(key, {from, to, types: new Set()});
    edges.get(key).types.add(value.type);
  };
  const graph = focus.graph;
  const inside = op => focus.contains(op.part);
  for (const op of graph.ops) {
    if (op.isConstant || !inside(op)) continue;
    const here = shown(op);
    if (!here) continue;
    for (const operand of op.operands) {
      const value = graph.values[operand];
      if (!value || (value.op && value.op.isConstant)) continue;
      if (value.op && inside(value.op)) {
        const there = shown(value.op);
        if (there) connect(there.key, here.key, value);
        continue;
      }
      if (value.blockOf && inside(value.blockOf)) continue;
      const key = 'in' + value.number;
      if (!boxes.has(key)) boxes.set(key, portBox(key, value, value.port ? value.port.name
        : value.op ? value.op.title : 'argument', value.op));
      connect(key, here.key, value);
    }
    for (const result of op.results) {
      const value = graph.values[result];
      const outer = value.users.find(user => !inside(user) && !user.isConstant);
      if (!outer) continue;
      const key = 'out' + value.number;
      if (!boxes.has(key)) boxes.set(key, portBox(key, value, outer.title, outer));
      connect(here.key, key, value);
    }
  }
  shortenFanOut(boxes, edges);
  return {boxes: [...boxes.values()], groups, edges: [...edges.values()]};
}

/** Names a value that goes almost everywhere where it is used. */
function shortenFanOut(boxes, edges) {
  const from = new Map();
  for (const [key, edge] of edges) {
    if (!from.has(edge.from)) from.set(edge.from, []);
    from.get(edge.from).push(key);
  }
  for (const [source, keys] of from) {
    if (keys.length <= MAX_FAN_OUT) continue;
    const origin = boxes.get(source);
    // The first use stays, so that it is clear where the value comes from.
    for (const key of keys.slice(1)) {
      const entry = boxes.get(edges.get(key).to);
      entry.references = [...(entry.references || []), origin.title];
      edges.delete(key);
    }
  }
  for (const entry of boxes.values())
    if (entry.references) {
      entry.fourth = clip('⇠ ' + entry.references.join(', '), 40);
      entry.height += 15;
      entry.width = Math.max(entry.width, textWidth(entry.fourth, 11) + 22);
    }
}

function box(item, parent) {
  const measure = measures[colouring];
  if (item instanceof Part) {
    const title = clipStart(item.label, 32);
    let sub = [classOf(item), plural(item.ops, 'op')].filter(Boolean).join(' · ');
    if (item.bytes) sub += ' · ' + bytes(item.bytes);
    if (measure && measure.parts.has(item)) sub = format(measure, measure.parts.get(item)) + ' · ' + plural(item.ops, 'op');
    return {key: item.key, item, parent, title, sub, kind: 'module', height: 46,
      width: Math.max(110, textWidth(title, 13) * 1.06 + 34, textWidth(sub, 11) + 28)};
  }
  const title = clip(item.title, 34);
  const weights = item.operands.map(value => item.graph.values[value])
    .filter(value => value && value.op && value.op.isConstant && value.op.bytes > 1024);
  let sub = item.results.map(value => item.graph.values[value].type).slice(0, 2).join(', ');
  if (!sub) sub = item.operands.length ? item.operands.map(value => (item.graph.values[value] || {type: ''}).type).slice(0, 2).join(', ') : '';
  if (measure && measure.of.has(item)) sub = format(measure, measure.of.get(item)) + (sub ? ' · ' + sub : '');
  sub = clip(sub, 40);
  const third = weights.length ? clip('⚖ ' + weights.map(value => value.type).join(', '), 40) : '';
  return {key: item.key, item, parent, title, sub, third, kind: item.kind, height: third ? 54 : sub ? 40 : 28,
    width: Math.max(72, textWidth(title, 12.5) + 24, textWidth(sub, 11) + 22, textWidth(third, 11) + 22)};
}

function portBox(key, value, title, op) {
  title = clip(title || 'value', 30);
  return {key, item: op || null, port: true, parent: null, title, sub: clip(value.type, 36), kind: value.port && value.port.state ? 'state' : 'port',
    height: 38, width: Math.max(64, textWidth(title, 12) + 28, textWidth(value.type, 11) + 28)};
}

let drawn = null;

function layout() {
  const {boxes, groups, edges} = visibleBoxes();
  if (boxes.length > MAX_LAYOUT) return {boxes: [], groups: [], edges: [], tooMany: boxes.length};
  const graph = new dagre.graphlib.Graph({compound: true});
  graph.setGraph({rankdir: 'TB', nodesep: 18, ranksep: groups.length ? 46 : 32, marginx: 24, marginy: groups.length ? 48 : 24,
    ranker: boxes.length > MAX_CAREFUL ? 'longest-path' : 'network-simplex'});
  graph.setDefaultEdgeLabel(() => ({}));
  for (const group of groups) graph.setNode('g' + group.part.key, {});
  for (const group of groups) if (group.parent) graph.setParent('g' + group.part.key, 'g' + group.parent.key);
  for (const entry of boxes) {
    graph.setNode(String(entry.key), {width: entry.width, height: entry.height});
    if (entry.parent) graph.setParent(String(entry.key), 'g' + entry.parent.key);
  }
  for (const edge of edges) graph.setEdge(String(edge.from), String(edge.to));
  dagre.layout(graph);
  for (const entry of boxes) {
    const {x, y} = graph.node(String(entry.key));
    entry.x = x; entry.y = y;
  }
  // Frames get a line for their title, above those of the frames in them.
  for (const group of [...groups].reverse()) {
    const lines = group.lines = Math.max(0, ...groups.filter(other => other.parent === group.part)
      .map(other => other.lines)) + 1;
    const {x, y, width, height} = graph.node('g' + group.part.key);
    const room = 20 * lines - 6, bottom = 4 * lines - 4;
    Object.assign(group, {x, y: y - (room - bottom) / 2, width: Math.max(width, 90) + 2 * bottom, height: height + room + bottom});
  }
  for (const edge of edges) edge.points = graph.edge(String(edge.from), String(edge.to)).points;
  return {boxes, groups, edges, width: graph.graph().width, height: graph.graph().height};
}

/** A smooth line through the middles of the layout's corners. */
function curve(points) {
  let path = `M${points[0].x},${points[0].y}`;
  for (let i = 1; i < points.length - 1; i++) {
    const middle = {x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2};
    const end = i === points.length - 2 ? points[i + 1] : middle;
    path += ` Q${points[i].x},${points[i].y} ${end.x},${end.y}`;
  }
  if (points.length === 2) path += ` L${points[1].x},${points[1].y}`;
  return path;
}

function fillOf(entry) {
  const measure = measures[colouring];
  if (!measure || entry.port || entry.kind === 'port') return [`var(--${entry.kind})`, `var(--${entry.kind}-line)`, false];
  const t = entry.item && heat(measure, entry.item);
  if (t === undefined) return ['var(--shape)', 'var(--shape-line)', false];
  return [heatColour(t), 'var(--shape-line)', true];
}

function drawBox(entry) {
  const [fill, line, heated] = fillOf(entry);
  const {x, y, width, height} = entry;
  const left = x - width / 2, top = y - height / 2;
  const node = svg('g', {class: 'node' + (heated ? ' heated' : ''), transform: `translate(${left},${top})`});
  if (entry.item) node.dataset.node = entry.item instanceof Part ? 'part:' + entry.item.label : 'op:' + entry.item.title;
  if (entry.kind === 'module')
    node.append(svg('rect', {x: 3, y: 3, width, height, rx: 7, fill: 'none', stroke: line, opacity: .5}));
  const rect = svg('rect', {width, height, rx: entry.port || entry.kind === 'port' ? height / 2 : entry.kind === 'module' ? 7 : 6});
  rect.style.fill = fill;
  rect.style.stroke = line;
  if (entry.port || entry.kind === 'port') rect.setAttribute('stroke-dasharray', '4 3');
  node.append(rect);
  const ink = heated ? '#1c2024' : null;
  const write = (text, row, cls) => {
    const label = svg('text', {x: width / 2, y: row, 'text-anchor': 'middle'}, text);
    if (cls) label.setAttribute('class', cls);
    if (ink) label.style.fill = ink;
    if (entry.kind === 'module' && !cls) label.style.fontWeight = 600;
    node.append(label);
  };
  const first = entry.sub ? (entry.port ? 16 : entry.kind === 'module' ? 20 : 17) : height / 2 + 4;
  write(entry.title, first);
  if (entry.sub) write(entry.sub, first + 15, 'sub');
  let row = first + 15;
  for (const more of [entry.third, entry.fourth]) if (more) write(more, row += 15, 'sub');
  node.append(svg('title', {}, entry.title + (entry.item && !(entry.item instanceof Part) && entry.item.lines.length
    ? '\n' + entry.item.lines[0] : '')));
  node.addEventListener('click', event => {
    event.stopPropagation();
    if (moved) return;
    if (entry.port) { if (entry.item instanceof Part) select(entry.item); else if (entry.item) reveal(entry.item); return; }
    select(entry.item);
  });
  node.addEventListener('dblclick', event => {
    event.stopPropagation();
    if (entry.item instanceof Part) unfold(entry.item);
    else if (entry.item && entry.item.callee !== undefined) goTo(graphs[entry.item.callee].root);
  });
  entry.element = node;
  return node;
}

function unfold(part) {
  part.open = true;
  for (const child of part.parts) child.open = false;
  part.listed = true;
  select(part, false);
  refresh(false);
  centre(part);
}

function fold(part) {
  part.open = false;
  select(part, false);
  refresh(false);
  centre(part);
}

function drawGroup(group) {
  const {x, y, width, height, part} = group;
  const left = x - width / 2, top = y - height / 2;
  const node = svg('g', {class: 'group'});
  node.dataset.group = part.label;
  node.append(svg('rect', {x: left, y: top, width, height, rx: 10}));
  const button = svg('g', {class: 'fold', transform: `translate(${left + 8},${top + 6})`},
    svg('rect', {width: 16, height: 16, rx: 4}), svg('text', {x: 8, y: 12, 'text-anchor': 'middle'}, '−'));
  button.append(svg('title', {}, 'Fold'));
  button.addEventListener('click', event => { event.stopPropagation(); fold(part); });
  const title = svg('text', {x: left + 30, y: top + 18, class: 'title'}, clipStart(part.label, Math.max(8, Math.floor(width / 8))));
  title.addEventListener('click', event => { event.stopPropagation(); select(part); });
  title.addEventListener('dblclick', event => { event.stopPropagation(); goTo(part); });
  node.append(button, title);
  group.element = node;
  return node;
}

function drawGraph(fit) {
  if (!focus) return;
  drawn = layout();
  const world = $('world');
  const tip = (id) => svg('marker', {id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse'},
    svg('path', {d: 'M0,0.5 L8,4 L0,7.5 z'}));
  const groups = drawn.groups.map(drawGroup);
  const edges = drawn.edges.map(edge => {
    edge.element = svg('path', {class: 'edge', d: curve(edge.points), 'marker-end': 'url(#tip)'});
    edge.element.append(svg('title', {}, [...edge.types].join('\n')));
    return edge.element;
  });
  world.replaceChildren(svg('defs', {}, tip('tip'), tip('tip-near')), ...groups, ...edges, ...drawn.boxes.map(drawBox));
  if (drawn.tooMany)
    world.append(svg('text', {x: 0, y: 0, class: 'sub'}, `${drawn.tooMany} boxes are too many; fold some.`));
  markSelected();
  if (fit) fitAll();
  drawLegend();
}

function markSelected() {
  if (!drawn) return;
  const item = selected && selected.isConstant
    ? selected.graph.values[selected.results[0]].users[0] : selected;
  let key = null;
  for (const entry of drawn.boxes) {
    const isIt = !entry.port && entry.item === item && item !== null;
    entry.element.classList.toggle('selected', isIt);
    if (isIt) key = entry.key;
  }
  for (const group of drawn.groups) group.element.classList.toggle('selected', group.part === item);
  for (const label of $('world').querySelectorAll('.edge-label')) label.remove();
  for (const edge of drawn.edges) {
    const near = key !== null && (edge.from === key || edge.to === key);
    edge.element.classList.toggle('near', near);
    edge.element.setAttribute('marker-end', near ? 'url(#tip-near)' : 'url(#tip)');
    if (near) {
      const middle = edge.points[Math.floor(edge.points.length / 2)];
      $('world').append(svg('text', {class: 'edge-label', x: middle.x, y: middle.y, 'text-anchor': 'middle'},
        clip([...edge.types].join(', '), 36)));
    }
  }
}

/* ---- Moving about --------------------------------------------------------------- */

const view = {x: 0, y: 0, scale: 1};
let moved = false;

function applyView() { $('world').setAttribute('transform', `translate(${view.x},${view.y}) scale(${view.scale})`); }

function fitAll() {
  const {clientWidth, clientHeight} = $('graph');
  if (!drawn || !drawn.width || !clientWidth) return;
  const scale = Math.min((clientWidth - 32) / drawn.width, (clientHeight - 84) / drawn.height, 1.15);
  // Too small to be read is of no use: then the beginning is shown.
  view.scale = Math.max(scale, 0.6);
  const middles = drawn.boxes.map(entry => entry.x).sort((a, b) => a - b);
  const middle = scale < 0.6 ? middles[Math.floor(middles.length / 2)] : drawn.width / 2;
  view.x = clientWidth / 2 - middle * view.scale;
  view.y = scale < 0.6 ? 48 : Math.max(48, (clientHeight - drawn.height * view.scale) / 2);
  applyView();
}

function centre(item) {
  const target = item.isConstant ? item.graph.values[item.results[0]].users[0] : item;
  const entry = drawn.boxes.find(each => !each.port && each.item === target) || drawn.groups.find(each => each.part === target);
  if (!entry) { fitAll(); return; }
  const {clientWidth, clientHeight} = $('graph');
  view.scale = Math.max(view.scale, 0.7);
  view.x = clientWidth / 2 - entry.x * view.scale;
  view.y = Math.min(clientHeight / 2 - entry.y * view.scale, clientHeight / 3 - (entry.y - entry.height / 2) * view.scale);
  applyView();
}

function zoom(factor, x = $('graph').clientWidth / 2, y = $('graph').clientHeight / 2) {
  const scale = Math.max(0.05, Math.min(4, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  applyView();
}

$('graph').addEventListener('wheel', event => {
  event.preventDefault();
  const corner = $('graph').getBoundingClientRect();
  if (event.ctrlKey || event.metaKey || !event.deltaX && Math.abs(event.deltaY) >= 40)
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - corner.left, event.clientY - corner.top);
  else { view.x -= event.deltaX; view.y -= event.deltaY; applyView(); }
}, {passive: false});

$('graph').addEventListener('pointerdown', event => {
  if (event.button) return;
  const start = {x: event.clientX, y: event.clientY, viewX: view.x, viewY: view.y};
  moved = false;
  const move = step => {
    const dx = step.clientX - start.x, dy = step.clientY - start.y;
    if (!moved && Math.hypot(dx, dy) < 4) return;
    moved = true;
    $('graph').classList.add('moving');
    view.x = start.viewX + dx;
    view.y = start.viewY + dy;
    applyView();
  };
  const end = () => {
    removeEventListener('pointermove', move);
    removeEventListener('pointerup', end);
    $('graph').classList.remove('moving');
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', end);
});
$('graph').addEventListener('click', () => { if (!moved) select(focus); });

$('fit').onclick = fitAll;
$('in').onclick = () => zoom(1.25);
$('out').onclick = () => zoom(0.8);
$('up').onclick = () => { if (focus.parent) goTo(focus.parent, focus); };

function drawPath() {
  const parts = [];
  for (let part = focus; part; part = part.parent) parts.unshift(part);
  const row = [];
  parts.forEach((part, i) => {
    if (i) row.push(element('i', {}, '›'));
    const label = part.type === 'graph' ? part.graph.name : part.label;
    row.push(part === focus ? element('span', {}, label) : element('button', {onclick: () => goTo(part)}, label));
  });
  $('path').replaceChildren(...row);
}

/* ---- Details on the right --------------------------------------------------------- */

function facts(pairs) {
  const result = element('dl');
  for (const [name, value] of pairs)
    if (value !== '' && value !== undefined && value !== null)
      result.append(element('dt', {}, name), element('dd', {}, value));
  return result;
}

const heading = text => element('h3', {}, text);

function link(text, end, action, dim) {
  return element('button', {class: 'link', onclick: action},
    element('span', {class: dim ? 'dim' : ''}, text), element('span', {class: 'end mono'}, end));
}

function measureFacts(item) {
  return Object.values(measures).map(measure => {
    const value = valueOf(measure, item);
    if (value === undefined) return [measure.label, ''];
    const t = heat(measure, item);
    const share = measure.name === 'times' && measure.total
      ? ` (${(100 * value / measure.total).toFixed(1)} %)` : '';
    return [measure.label, element('span', {class: 'heat', style: t === undefined ? '' : `background: ${heatColour(t)}`},
      format(measure, value) + share)];
  });
}

function sourceLines(op) {
  if (!op.lines.length) return [];
  // The end of a path is what tells files apart; the rest shows on hovering.
  const short = line => line.split('/').length > 3 ? '…/' + line.split('/').slice(-2).join('/') : line;
  return [heading('Source'), ...op.lines.map(line => element('div', {class: 'line mono', title: line}, short(line)))];
}

function opDetails(op) {
  const out = [element('h2', {}, op.isConstant ? op.weight || 'constant' : op.title),
    element('p', {class: 'kind mono'}, op.name)];
  let module = op.part;
  while (module && module.type !== 'module') module = module.parent;
  out.push(facts([...measureFacts(op), ['Node', op.node ? element('code', {}, op.node) : ''],
    ['Module', module ? [module.label, classOf(module)].filter(Boolean).join(' · ') : ''], ['Graph', op.graph.name], ['Id', op.id === undefined ? '' : String(op.id)],
    ['Size', bytes(op.bytes)]]));
  const actions = [];
  if (op.callee !== undefined)
    actions.push(element('button', {onclick: () => goTo(graphs[op.callee].root)}, 'Open what it calls'));
  const inner = [...op.part.children.values()].find(part => part.owner === op);
  if (inner) actions.push(element('button', {onclick: () => goTo(inner)}, 'Open its regions'));
  if (op.part !== focus && !op.isConstant)
    actions.push(element('button', {onclick: () => goTo(op.part, op)}, 'Show only its module'));
  if (actions.length) out.push(element('div', {class: 'actions'}, ...actions));
  out.push(...sourceLines(op));
  if (op.operands.length) {
    out.push(heading('Operands'));
    op.operands.forEach(operand => {
      const value = op.graph.values[operand];
      if (!value) return;
      const name = value.port ? value.port.name : value.op ? (value.op.isConstant
        ? value.op.weight || constantText(value.op) : value.op.title) : 'argument of a block';
      out.push(link(clip(name, 34), value.type, () => { if (value.op) reveal(value.op); }));
    });
  }
  if (op.results.length) {
    out.push(heading('Results'));
    for (const result of op.results) {
      const value = op.graph.values[result];
      out.push(link(value.users.length ? 'used by ' + plural(value.users.length, 'operation') : 'not used', value.type,
        () => { if (value.users.length) reveal(value.users[0]); }));
      for (const user of value.users.slice(0, 12))
        out.push(link('→ ' + user.title, user.node ? clip(user.node, 22) : '', () => reveal(user), true));
    }
  }
  const attributes = [];
  for (let i = 0; i < op.attributes.length; i += 2)
    attributes.push([texts[op.attributes[i]], element('code', {}, texts[op.attributes[i + 1]])]);
  if (attributes.length) out.push(heading('Attributes'), facts(attributes));
  return out;
}

function constantText(op) {
  for (let i = 0; i < op.attributes.length; i += 2)
    if (texts[op.attributes[i]] === 'value') return texts[op.attributes[i + 1]].replace(/^dense<(.*)>$/, '$1');
  return 'constant';
}

function opsOf(part, visit) {
  for (const item of part.items)
    if (item instanceof Part) opsOf(item, visit);
    else visit(item);
}

function partDetails(part) {
  const graph = part.graph;
  const isGraph = part === graph.root;
  const out = [element('h2', {}, isGraph ? graph.name : part.label),
    element('p', {class: 'kind'}, isGraph ? (graph.composite ? `composite ${graph.composite}` : graph.isPrivate ? 'graph' : 'entry point')
      : {module: part.className || 'module', group: 'neighbouring items', control: 'control flow', region: 'region'}[part.type])];
  out.push(facts([...measureFacts(part), ['Operations', part.ops.toLocaleString('en')], ['Weights', bytes(part.bytes)],
    ['Declaration', graph.declaration && isGraph ? element('code', {}, graph.declaration) : '']]));
  const actions = [];
  if (part !== focus) {
    actions.push(element('button', {onclick: () => goTo(part)}, 'Show only this'));
    actions.push(part.open ? element('button', {onclick: () => fold(part)}, 'Fold')
      : element('button', {onclick: () => unfold(part)}, 'Unfold'));
  }
  if (actions.length) out.push(element('div', {class: 'actions'}, ...actions));
  if (isGraph) {
    const ports = (title, members) => {
      if (members.length) out.push(heading(title), ...members.map(port => link(port.name || '(unnamed)', port.type, () => {})));
    };
    ports('Inputs', graph.inputs.filter(port => !port.state));
    ports('States', graph.inputs.filter(port => port.state));
    ports('Outputs', graph.outputs.filter(port => !port.state));
    const callers = graphs.flatMap(other => other.ops.filter(op => op.callee === graph.index));
    if (callers.length) out.push(heading('Called by'), ...callers.slice(0, 20).map(op =>
      link(op.node || op.title, op.graph.name, () => reveal(op))));
  }
  for (const measure of Object.values(measures)) {
    const worst = [];
    opsOf(part, op => { if (measure.of.has(op) && !Number.isNaN(measure.of.get(op))) worst.push(op); });
    worst.sort((a, b) => measure.of.get(b) - measure.of.get(a));
    if (worst.length) out.push(heading(measure.name === 'times' ? 'Slowest' : 'Largest errors'),
      ...worst.slice(0, 8).map(op => link(op.title + (op.node ? '  ' + clip(op.node, 20) : ''), format(measure, measure.of.get(op)), () => reveal(op))));
  }
  const counts = new Map();
  opsOf(part, op => counts.set(op.title, (counts.get(op.title) || 0) + 1));
  const sorted = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12);
  if (sorted.length) out.push(heading('Most frequent'), facts(sorted.map(([name, count]) => [name, String(count)])));
  return out;
}

function showDetails() {
  const item = selected || focus;
  $('details').replaceChildren(...(item instanceof Part ? partDetails(item) : opDetails(item)));
  $('details').scrollTop = 0;
}

/* ---- Header ---------------------------------------------------------------------- */

function drawLegend() {
  const measure = measures[colouring];
  $('legend').hidden = !measure;
  if (!measure) return;
  const gradient = Array.from({length: 9}, (_, i) => heatColour(i / 8)).join(', ');
  $('legend').replaceChildren(element('div', {}, measure.name === 'times' ? 'Time of an operation' : 'Largest error'),
    element('div', {class: 'scale', style: `background: linear-gradient(90deg, ${gradient})`}),
    element('div', {class: 'ends'}, element('span', {}, format(measure, measure.name === 'times' ? 0 : measure.min)),
      element('span', {}, format(measure, measure.max))));
}

function setColouring(name) {
  colouring = name;
  for (const button of $('colours').children) button.setAttribute('aria-pressed', String(button.dataset.name === name));
  refresh(false);
}

if (Object.keys(measures).length)
  for (const [name, label] of [['kind', 'Kind'], ...Object.values(measures).map(measure => [measure.name, measure.label])])
    $('colours').append(element('button', {'data-name': name, 'aria-pressed': String(name === colouring),
      onclick: () => setColouring(name)}, label));

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = name => { document.documentElement.dataset.theme = name; };
setTheme(dark.matches ? 'dark' : 'light');
dark.addEventListener('change', () => setTheme(dark.matches ? 'dark' : 'light'));
$('theme').onclick = () => setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');

let timer = 0;
$('search').addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(search, 80); });
$('search').addEventListener('keydown', event => {
  if (event.key === 'Escape') { event.target.value = ''; search(); event.target.blur(); }
  if (event.key === 'Enter') { clearTimeout(timer); const before = chosen; if (!results) search(); chosen = before; openResult(); }
  if (!results) return;
  if (event.key === 'ArrowDown') chosen = Math.min(results.length - 1, chosen + 1);
  else if (event.key === 'ArrowUp') chosen = Math.max(0, chosen - 1);
  else return;
  event.preventDefault();
  list.reveal(chosen);
});

$('list').addEventListener('keydown', event => {
  if (results || tab !== 'Modules') return;
  const rows = list.rows.filter(row => row.part);
  const at = Math.max(0, rows.findIndex(row => row.part === focus));
  const part = rows[at] && rows[at].part;
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (step) { const next = rows[at + step]; if (next) { goTo(next.part); list.reveal(list.rows.findIndex(row => row.part === next.part)); } }
  else if (event.key === 'ArrowRight' && part) { part.listed = true; drawList(true); }
  else if (event.key === 'ArrowLeft' && part) { if (part.listed && part.parts.length) { part.listed = false; drawList(true); } else if (part.parent) goTo(part.parent); }
  else return;
  event.preventDefault();
});

addEventListener('keydown', event => {
  if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') { event.preventDefault(); $('search').focus(); $('search').select(); }
  else if (event.key === 'f') fitAll();
  else if (event.key === 'u') $('up').click();
  else if (event.key === '+' || event.key === '=') zoom(1.25);
  else if (event.key === '-') zoom(0.8);
});
addEventListener('resize', () => fitAll());

const total = graphs.reduce((sum, graph) => sum + graph.ops.filter(op => !op.isConstant).length, 0);
const weightBytes = graphs.reduce((sum, graph) => sum + graph.root.bytes, 0);
const composites = graphs.filter(graph => graph.composite).length;
const states = entries.reduce((sum, graph) => sum + graph.inputs.filter(port => port.state).length, 0);
$('title').textContent = data.title;
$('stats').textContent = [plural(total, 'operation'), weightBytes ? bytes(weightBytes) + ' of weights' : '',
  composites ? plural(composites, 'composite') : '', states ? plural(states, 'state') : ''].filter(Boolean).join(' · ');

if (focus) {
  for (const graph of entries) {
    graph.root.listed = true;
    // Wrappers around everything are unfolded in the tree.
    for (let part = graph.root; part.parts.length === 1; part = part.parts[0]) part.parts[0].listed = true;
  }
  goTo(focus);
} else drawList(false);
