/** Reads a graph from `graph.txt`, as shown to proposers: the parts needed for edits. */

export interface ShownMessage {
  role: string;
  content: string;
}

export interface ShownStep {
  id: string;
  type: string;
  /** Name to ref; a vote also has its candidates, under `over` and `of`. */
  inputs: Record<string, string>;
  messages: ShownMessage[];
  /** The answer's field; null: JSON, or no model step. */
  field: string | null;
}

export interface ShownGraph {
  inputs: string[];
  output: string;
  steps: ShownStep[];
}

const maxLines = 20_000;

export function readGraphText(text: string): ShownGraph | null {
  const [inputs, output, ...lines] = text.split('\n').slice(0, maxLines);
  if (!inputs?.startsWith('inputs: ') || !output?.startsWith('output: ')) return null;
  const graph: ShownGraph = { inputs: listOf(inputs.slice(8)), output: nameOf(output.slice(8)), steps: [] };
  for (const line of lines) readLine(line, graph.steps);
  return graph;
}

function readLine(line: string, steps: ShownStep[]): void {
  const head = /^step (\S+): (\w+)/.exec(line);
  if (head) return void steps.push({ id: nameOf(head[1]!), type: head[2]!, inputs: {}, messages: [], field: null });
  const step = steps.at(-1);
  const own = line.trimStart();
  if (!step) return;
  const message = step.messages.at(-1);
  if (own.startsWith('>') && message) {
    message.content += `${message.content === '' ? '' : '\n'}${own.slice(2)}`;
  } else if (own.startsWith('JSON ') && message) {
    message.content = parseText(own.slice(5));
  } else if (own.startsWith('message, ')) {
    step.messages.push({ role: own.slice(9), content: '' });
  } else if (own.startsWith('input ')) {
    const [name, ref] = own.slice(6).split(' = ', 2);
    if (ref !== undefined) step.inputs[nameOf(name!)] = nameOf(ref);
  } else if (/^(?:over|of): /.test(own)) {
    for (const [at, ref] of listOf(own.slice(own.indexOf(':') + 2)).entries()) step.inputs[`of ${at + 1}`] = ref;
  } else if (own.startsWith('gives: field ')) {
    step.field = nameOf(own.slice(13));
  }
}

function listOf(text: string): string[] {
  return text === 'none' ? [] : text.split(', ').map(nameOf);
}

function nameOf(text: string): string {
  return text.startsWith('"') ? parseText(text) : text;
}

/** Parses JSON; other text is returned unchanged. */
function parseText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** The step of a ref: `solve` of `solve.answer`. */
export function refHead(ref: string): string {
  return ref.split('.', 1)[0]!;
}
