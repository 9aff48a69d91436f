import { createHash } from 'node:crypto';
import { singleStepGraph } from '../../../src/core/graphs/single-step.js';
import { messagesOf, type Question } from '../../../src/core/question.js';

// Fakes recognize our prompts by the parts that every prompt of a kind has, whatever they say.

interface Message {
  content: string;
}

const text = 'sample';
const proposal = { graph: text, failures: [], models: [], maxEdits: 3, attempts: { now: 1, most: 1 } };
const criteria = [{ name: `${text} 1`, weight: 1, description: `${text} 2` }];
const judgement: Question = { kind: 'judgement', request: { criteria, input: `${text} 3`, output: `${text} 4` } };
const samples: Question[] = [
  { kind: 'text', reflection: { instruction: text, examples: [] } },
  { kind: 'edits', graph: singleStepGraph([], []), proposal },
  { kind: 'description', request: { prompt: {}, examples: [] } },
];
const marks: [Question['kind'], string][] = [
  ...samples.map((question): [Question['kind'], string] => [question.kind, ends(messagesOf(question)).at(-1)!]),
  ['judgement', messagesOf(judgement)[0]!.content],
];

function ends(messages: readonly Message[]): string[] {
  return messages.at(-1)!.content.split('\n\n');
}

/** What the service asks with these messages; null: they are a rollout's. */
export function kindOf(messages: readonly Message[]): Question['kind'] | null {
  // Callers send assistant messages of tool calls alone, and lists of parts.
  const texts = messages.map(({ content }: { content?: unknown }) => (typeof content === 'string' ? content : ''));
  const of = marks.find(([, mark]) => texts.some((one) => one.includes(mark)));
  return of?.[0] ?? null;
}

/** Whether a proposer is asked for a text or for edits. */
export function isProposal(messages: readonly Message[]): boolean {
  return ['text', 'edits'].includes(kindOf(messages) ?? '');
}

/** The text or the graph that a proposer is to change. */
export function currentOf(messages: readonly Message[]): string {
  return /^```\n([\s\S]*?)\n```$/m.exec(messages.map(({ content }) => content).join('\n'))?.[1] ?? '';
}

/** The name of the part that a proposer is to write; undefined: the prompt has no other. */
export function partOf(messages: readonly Message[]): string | undefined {
  const reflection = { instruction: text, examples: [], component: 'named', others: { other: text } };
  const [before] = ends(messagesOf({ kind: 'text', reflection }))
    .find((paragraph) => paragraph.includes('"named"'))!
    .split('named');
  const [, rest] = messages
    .map(({ content }) => content)
    .join('\n')
    .split(before!);
  return rest && /^\w+/.exec(rest)?.[0];
}

/** The first lines that a judge's prompt quotes where the sample quotes its `at`-th text. */
function judged(messages: readonly Message[], at: number): string[] {
  const titled = (line: string | undefined) => line?.replace(/\d+$/, '');
  const sample = messagesOf(judgement).at(-1)!.content.split('\n');
  const title = titled(sample[sample.indexOf(`> ${text} ${at}`) - 1]);
  const lines = messages.flatMap(({ content }) => content.split('\n'));
  return lines.filter((_, index) => titled(lines[index - 1]) === title).map((line) => line.replace(/^> ?/, ''));
}

export const criteriaNames = (messages: readonly Message[]): string[] => judged(messages, 1);

export const judgedOutput = (messages: readonly Message[]): string => judged(messages, 4)[0]!;

/** A proposer's answer with a text that is new for each question, and says no more than `text`. */
export function uselessText(text: string, question: object): string {
  const form = createHash('sha256').update(JSON.stringify(question)).digest('hex').slice(0, 8);
  return `\`\`\`\n${text} Form ${form}.\n\`\`\``;
}
