/**
 * Sample container: assigns customer messages (data.jsonl) to queues, whose meaning (labels.json)
 * is only in the feedback. Run: `node dist/examples/intents/container.js --port 8900`
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createContainer, type RunningContainer, type Score } from '../../src/container/index.js';

/** A message and its correct label. */
export interface Intent {
  text: string;
  label: string;
}

/** Descriptions of labels; some may be missing. */
export type LabelGuide = Record<string, string>;

export interface IntentsOptions {
  port?: number;
  /**
   * Path or http(s) URL of the messages, `{"text", "label"}` per line. Default: the bank's, next to
   * this file.
   */
  data?: string | undefined;
  /**
   * Path or URL of the guide `{label: description}`. Default: the bank's; none if `data` is set.
   */
  labels?: string | undefined;
  apiKey?: string | undefined;
}

/** A user's first prompt: the instruction without the meaning of the labels. */
export const initialPrompt =
  'Classify the message. Answer with exactly one of the labels that come with it, and nothing else.';

/**
 * Starts the container on loopback (default port 0: a free one); throws if it cannot read the data.
 */
export async function startIntents({ port = 0, data, labels, apiKey }: IntentsOptions = {}): Promise<RunningContainer> {
  const tasks = await readIntents(data ?? beside('data.jsonl'));
  const guideSource = labels ?? (data === undefined ? beside('labels.json') : undefined);
  const guide = guideSource === undefined ? {} : (JSON.parse(await read(guideSource)) as LabelGuide);
  const names = labelsOf(tasks);
  const container = createContainer({
    name: 'intents',
    tasks,
    initialPrompt,
    apiKey,
    async rollout(task, model, { prompt }) {
      const answer = await model([
        { role: 'system', content: prompt },
        { role: 'user', content: question(task, names) },
      ]);
      return score(task, answer, names, guide);
    },
  });
  return container.listen(port);
}

export function labelsOf(tasks: readonly Intent[]): string[] {
  return [...new Set(tasks.map(({ label }) => label))].sort();
}

/** The user message: the text and its labels. */
export function question({ text }: Intent, labels: readonly string[]): string {
  return `Message: ${text}\n\nLabels: ${labels.join(', ')}`;
}

/** Reward 1 for the right label, else 0, with feedback that explains the right label. */
export function score(task: Intent, answer: string, labels: readonly string[], guide: LabelGuide = {}): Score {
  const answered = labelIn(answer, labels);
  const details = { expected: task.label, answered };
  if (answered === task.label) return { reward: 1, feedback: `Correct: \`${answered}\`.`, details };
  const about = guide[task.label] === undefined ? '' : `It is about ${guide[task.label]}. `;
  const said = answered === null ? 'the answer names no single label' : `answered \`${answered}\``;
  return { reward: 0, feedback: `Wrong for "${task.text}". ${about}Expected \`${task.label}\`, ${said}.`, details };
}

/** The label that is the whole answer, else the only label in it. */
function labelIn(answer: string, labels: readonly string[]): string | null {
  const bare = answer.trim().replace(/^[`"']|[`"'.]+$/g, '');
  if (labels.includes(bare)) return bare;
  const words = new Set(answer.slice(0, 2_000).match(/[\w-]+/g));
  const named = labels.filter((label) => words.has(label));
  return named.length === 1 ? named[0]! : null;
}

/** Reads messages from a path or URL; throws with the number of an invalid message. */
export async function readIntents(source: string): Promise<Intent[]> {
  const lines = (await read(source)).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, at) => {
    const { text, label } = JSON.parse(line) as Partial<Intent>;
    if (typeof text === 'string' && typeof label === 'string') return { text, label };
    throw new Error(`${source}, message ${at + 1}: expected {"text": "…", "label": "…"}`);
  });
}

async function read(source: string): Promise<string> {
  if (!/^https?:/.test(source)) return readFile(source, 'utf8');
  const response = await fetch(source);
  if (!response.ok) throw new Error(`${source} returned status ${response.status}`);
  return response.text();
}

function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      data: { type: 'string' },
      labels: { type: 'string' },
      key: { type: 'string' },
    },
  });
  const { port = '8900', data, labels, key } = values;
  void startIntents({ port: Number(port), data, labels, apiKey: key }).then(({ url }) => {
    console.log(`The container "intents" listens at ${url}`);
  });
}
