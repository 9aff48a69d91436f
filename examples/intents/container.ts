/**
 * The sample container: which queue does a customer's message belong to? The names of the queues say little, so a prompt
 * that does not explain them guesses. Each seed is one of the messages in data.jsonl; labels.json says what the queues are
 * for, which only the feedback tells.
 *
 *     node dist/examples/intents/container.js --port 8900
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createContainer, type RunningContainer, type Score } from '../../src/container/index.js';

/** One message and the label it should get. */
export interface Intent {
  text: string;
  label: string;
}

/** What each label is for, in words for people; labels may be missing. */
export type LabelGuide = Record<string, string>;

export interface IntentsOptions {
  port?: number;
  /** Path or http(s) URL of the messages: a line `{"text", "label"}` each. Default: those of the bank beside this file. */
  data?: string | undefined;
  /** Path or URL of the guide: `{label: what it is for}`. Default: the bank's; none where `data` is given. */
  labels?: string | undefined;
  apiKey?: string | undefined;
}

/** What a user would begin with: it says what to do, and nothing of what the labels mean. */
export const initialPrompt =
  'Classify the message. Answer with exactly one of the labels that come with it, and nothing else.';

/** Starts the container on loopback (port 0, the default: a free one); throws when the data cannot be read. */
export async function startIntents({ port = 0, data, labels, apiKey }: IntentsOptions = {}): Promise<RunningContainer> {
  const tasks = await readIntents(data ?? beside('data.jsonl'));
  const guidePlace = labels ?? (data === undefined ? beside('labels.json') : undefined);
  const guide = guidePlace === undefined ? {} : (JSON.parse(await read(guidePlace)) as LabelGuide);
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

/** The user message: the text and the labels to choose from. */
export function question({ text }: Intent, labels: readonly string[]): string {
  return `Message: ${text}\n\nLabels: ${labels.join(', ')}`;
}

/** 1 for the right label, else 0, and feedback that says what was wrong and what the right label is for. */
export function score(task: Intent, answer: string, labels: readonly string[], guide: LabelGuide = {}): Score {
  const answered = labelIn(answer, labels);
  const details = { expected: task.label, answered };
  if (answered === task.label) return { reward: 1, feedback: `Correct: \`${answered}\`.`, details };
  const about = guide[task.label] === undefined ? '' : `It is about ${guide[task.label]}. `;
  const said = answered === null ? 'the answer names no single label' : `answered \`${answered}\``;
  return { reward: 0, feedback: `Wrong for "${task.text}". ${about}Expected \`${task.label}\`, ${said}.`, details };
}

/** The label that an answer consists of, else the only one that it names. */
function labelIn(answer: string, labels: readonly string[]): string | null {
  const bare = answer.trim().replace(/^[`"']|[`"'.]+$/g, '');
  if (labels.includes(bare)) return bare;
  const words = new Set(answer.slice(0, 2_000).match(/[\w-]+/g));
  const named = labels.filter((label) => words.has(label));
  return named.length === 1 ? named[0]! : null;
}

/** Reads messages from a path or URL; throws with the line that is wrong. */
export async function readIntents(place: string): Promise<Intent[]> {
  const lines = (await read(place)).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, at) => {
    const { text, label } = JSON.parse(line) as Partial<Intent>;
    if (typeof text === 'string' && typeof label === 'string') return { text, label };
    throw new Error(`${place}, message ${at + 1}: expected {"text": "…", "label": "…"}`);
  });
}

async function read(place: string): Promise<string> {
  if (!/^https?:/.test(place)) return readFile(place, 'utf8');
  const response = await fetch(place);
  if (!response.ok) throw new Error(`${place} answered ${response.status}`);
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
