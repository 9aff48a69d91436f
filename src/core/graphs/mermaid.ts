/** Renders a graph as a Mermaid flowchart; numbered nodes and escaped labels keep the syntax. */
import type { Graph, Step } from './graph.js';
import { stepPrompt } from './graph.js';
import { refHead, stepRefs } from './refs.js';
import { cutAfter } from '../../util/text.js';

const maxLabel = 60;

export function graphMermaid({ inputs, steps, output }: Graph): string {
  const names = new Map<string, string>([['input', 'input'], ...steps.map(({ id }, at) => [id, `s${at}`] as const)]);
  const edge = (from: string, to: string, label: string, arrow = '-->') => `  ${from} ${arrow}|"${label}"| ${to}`;
  const lines = [
    'flowchart TD',
    `  input(["${escapeLabel(['input', inputs.join(', ')].filter((part) => part !== '').join(': '))}"])`,
    ...steps.map((step, at) => `  s${at}${stepNode(step)}`),
    '  output(["output"])',
  ];
  for (const [at, step] of steps.entries()) {
    for (const { path, ref } of stepRefs(step)) {
      const from = names.get(refHead(ref));
      // A map's own item has no arrow; the list it comes from has one.
      if (from !== undefined)
        lines.push(edge(from, `s${at}`, escapeLabel(edgeLabel(path, ref)), step.type === 'select' ? '-.->' : '-->'));
    }
  }
  const last = names.get(refHead(output));
  if (last !== undefined) lines.push(edge(last, 'output', escapeLabel(output)));
  return `${lines.join('\n')}\n`;
}

function edgeLabel(path: string, ref: string): string {
  return `${path.replace(/^(by\.judge\.)?inputs\./, '')} = ${ref}`;
}

function stepNode(step: Step): string {
  const { samples } = step.type === 'llm' ? step : {};
  const model = stepPrompt(step)?.model;
  const kind = [
    step.type === 'transform' ? step.op : step.type,
    ...(samples === undefined ? [] : [`${samples} samples`]),
    ...(step.type === 'vote' ? [step.by === 'majority' ? 'majority' : 'judge'] : []),
    ...(typeof model === 'string' ? [model] : []),
  ];
  const label = `"${escapeLabel(step.id)}<br/>${escapeLabel(kind.join(', '))}"`;
  if (step.type === 'select') return `{${label}}`;
  return stepPrompt(step) === null ? `[/${label}/]` : `[${label}]`;
}

/** Keeps letters, digits and some signs; encodes the rest as Mermaid's `#number;`. */
function escapeLabel(text: string): string {
  return [...cutAfter(text.trim().replace(/\s+/g, ' '), maxLabel)]
    .map((char) => (/[\p{L}\p{N} .,:_=-]/u.test(char) ? char : `#${char.codePointAt(0)};`))
    .join('');
}
