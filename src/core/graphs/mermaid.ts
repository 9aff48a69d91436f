/** A graph as a Mermaid flowchart. Nodes are numbered, and of a label all but plain characters are coded, so that no id ends one. */
import type { Graph, Step } from './graph.js';
import { promptOf } from './graph.js';
import { headOf, refsOf } from './refs.js';
import { cutText } from '../prompts/quote.js';

/** Characters of a label that are shown. */
const maxLabel = 60;

/** The chart of any graph, a valid one or not. */
export function graphMermaid({ inputs, steps, output }: Graph): string {
  const names = new Map<string, string>([['input', 'input'], ...steps.map(({ id }, at) => [id, `s${at}`] as const)]);
  const edge = (from: string, to: string, label: string, arrow = '-->') => `  ${from} ${arrow}|"${label}"| ${to}`;
  const lines = [
    'flowchart TD',
    `  input(["${coded(['input', inputs.join(', ')].filter((part) => part !== '').join(': '))}"])`,
    ...steps.map((step, at) => `  s${at}${boxOf(step)}`),
    '  output(["output"])',
  ];
  for (const [at, step] of steps.entries()) {
    for (const { path, ref } of refsOf(step)) {
      const from = names.get(headOf(ref));
      // What is of the map's own item has no arrow: the list that it is of has.
      if (from !== undefined)
        lines.push(edge(from, `s${at}`, coded(labelOf(path, ref)), step.type === 'select' ? '-.->' : '-->'));
    }
  }
  const last = names.get(headOf(output));
  if (last !== undefined) lines.push(edge(last, 'output', coded(output)));
  return `${lines.join('\n')}\n`;
}

function labelOf(path: string, ref: string): string {
  return `${path.replace(/^(by\.judge\.)?inputs\./, '')} = ${ref}`;
}

function boxOf(step: Step): string {
  const { samples } = step.type === 'llm' ? step : {};
  const model = promptOf(step)?.model;
  const kind = [
    step.type === 'transform' ? step.op : step.type,
    ...(samples === undefined ? [] : [`${samples} samples`]),
    ...(step.type === 'vote' ? [step.by === 'majority' ? 'majority' : 'judge'] : []),
    ...(typeof model === 'string' ? [model] : []),
  ];
  const label = `"${coded(step.id)}<br/>${coded(kind.join(', '))}"`;
  if (step.type === 'select') return `{${label}}`;
  return promptOf(step) === null ? `[/${label}/]` : `[${label}]`;
}

/** A text as a label: letters, digits and a few signs as they are, white space as one blank, all else as Mermaid's `#number;`. */
function coded(text: string): string {
  return [...cutText(text.trim().replace(/\s+/g, ' '), maxLabel)]
    .map((char) => (/[\p{L}\p{N} .,:_=-]/u.test(char) ? char : `#${char.codePointAt(0)};`))
    .join('');
}
