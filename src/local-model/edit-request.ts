/** Parses a request for edits of a graph: the graph in the first fence, then runs. */
import { readGraphText, type ShownGraph } from './graph-text.js';
import type { ShownExample } from './reflection.js';

/** A run that did not succeed; `steps` are step outputs by id. */
export interface ShownRun extends ShownExample {
  steps: Map<string, string>;
}

export interface EditRequest {
  graph: ShownGraph;
  runs: ShownRun[];
}

const asksForEdits = /\bedits as one JSON list\b/i;
const maxLength = 1_000_000;
const maxPartLength = 20_000;

/** The parsed request, or null for another kind of message. */
export function readEditRequest(message: string): EditRequest | null {
  if (!asksForEdits.test(message)) return null;
  const lines = message.slice(0, maxLength).split('\n');
  const opening = lines.findIndex((line) => /^`{3,}\s*$/.test(line));
  if (opening < 0) return null;
  const closing = lines.indexOf(lines[opening]!, opening + 1);
  if (closing < 0) return null;
  const graph = readGraphText(lines.slice(opening + 1, closing).join('\n'));
  return graph && { graph, runs: readRuns(lines.slice(closing + 1), graph) };
}

function readRuns(lines: readonly string[], { steps }: ShownGraph): ShownRun[] {
  const ids = new Set(steps.map(({ id }) => id));
  const runs: ShownRun[] = [];
  let part: keyof ShownRun | null = null;
  let step: string | null = null;
  for (const line of lines) {
    if (/^# Run \d+$/.test(line)) {
      runs.push({ input: '', output: '', feedback: '', steps: new Map() });
      part = null;
      continue;
    }
    const run = runs.at(-1);
    if (!run) continue;
    if (!line.startsWith('>')) {
      const [, name] = /^## (Input|Steps|Output|Feedback)$/.exec(line) ?? [];
      part = (name?.toLowerCase() ?? null) as keyof ShownRun | null;
      step = null;
      continue;
    }
    const text = line.slice(2);
    if (part === 'steps') {
      const [, id, value] = /^([A-Za-z]\w*): (.*)$/.exec(text) ?? [];
      if (id !== undefined && ids.has(id) && !run.steps.has(id)) run.steps.set((step = id), value!);
      else if (step !== null) run.steps.set(step, `${run.steps.get(step)!}\n${text}`.slice(0, maxPartLength));
    } else if (part !== null && run[part].length < maxPartLength) {
      run[part] += run[part] === '' ? text : `\n${text}`;
    }
  }
  return runs;
}
