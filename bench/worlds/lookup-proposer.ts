/**
 * The proposer of worlds of lookups, for texts and for edits of graphs. It learns missing words and
 * wrong lookups from failures, then acts by fixed odds without knowing which structures help.
 */
import type { Graph, LlmStep, PromptMessage } from '../../src/core/graphs/graph.js';
import { refHead } from '../../src/core/graphs/refs.js';
import { textDraws, type Draws } from './draws.js';
import { readGraphText } from './graph-text.js';
import { readLookup, steps, townWanted } from './lookup-texts.js';
import { answerDemand, demandIn, inFence, readFrame, rewrite, type Demand, type Lesson } from './proposer.js';
import { readPrompt } from './statements.js';
import type { ChatMessage } from './task-texts.js';

/** Odds of its edits in percent: after a wrong lookup, and with only words missing. */
const habits = {
  lookup: { structure: 70, prompt: 22, useless: 8 },
  words: { structure: 32, prompt: 60, useless: 8 },
} as const;
/** Odds of the structures. */
const structures = { decompose: 45, plan: 10, critique: 15, verify: 20, vote: 10 } as const;

export function propose(messages: readonly ChatMessage[], worldSeed: number): string {
  const whole = messages.map(({ content }) => content).join('\n');
  const draws = textDraws(`${worldSeed}\n${whole}`);
  const { instruction, rest } = readFrame(whole);
  return whole.includes('The edits that there are:')
    ? edit(readGraphText(instruction), rest, draws)
    : inFence(improveAs(demandIn(rest), instruction, learn(rest, instruction), draws));
}

interface Learned {
  /** Words that the instruction does not demand yet. */
  words: Lesson[];
  /** Failures with a wrong lookup. */
  lookups: number;
}

function learn(shown: string, instruction: string): Learned {
  const { stated } = readPrompt(instruction);
  const things = new Map([...stated].map(([thing, word]) => [word, thing]));
  const learned: Learned = { words: [], lookups: 0 };
  for (const example of shown.split(/^# (?:Example|Run) \d+$/m).slice(1)) {
    const found = readLookup(example.replace(/^> /gm, ''));
    const [, expected] = /\bExpected: "?([\w-]+)/.exec(example) ?? [];
    const [, given] = /\bGiven: "?([\w-]+)/.exec(example) ?? [];
    if (!found || expected === undefined) continue;
    const { lives, keeps, query } = found.lookup;
    const thing = keeps.get('town' in query ? query.town : lives.get(query.person)!)!;
    if (expected !== thing && stated.get(thing) !== expected) learned.words.push([thing, expected]);
    if (given !== undefined && (things.get(given) ?? given) !== thing) learned.lookups += 1;
  }
  return learned;
}

/** A text with one addition, with all words at once, or without useless lines. */
function improveAs(demand: Demand | null, text: string, learned: Learned, draws: Draws): string {
  if (demand === null) return improve(text, learned, draws);
  return answerDemand(demand, text, text.includes(townWanted) ? [] : learned.words, draws);
}

/** A text with one addition, possibly useless. */
function improve(text: string, { words, lookups }: Learned, draws: Draws): string {
  const isWork = !text.includes(townWanted);
  const isHint = isWork && !text.includes(steps) && draws.below(Math.max(1, words.length + lookups)) < lookups;
  return isHint ? `${text}\n${steps}` : rewrite(text, isWork ? words : [], draws);
}

function edit(graph: Graph, rest: string, draws: Draws): string {
  const target = outputStep(graph);
  const system = stepText(target.messages);
  const learned = learn(rest, system);
  const choice = drawn(learned.lookups > 0 ? habits.lookup : habits.words, draws);
  if (choice === 'useless') return 'I would check the answer once more.';
  const edits = choice === 'structure' ? structure(target, draws) : null;
  return asEdits(edits ?? { edit: 'prompt', step: target.id, messages: improved(target.messages, learned, draws) });
}

function structure({ id, inputs, messages }: LlmStep, draws: Draws): object | null {
  const given = Object.keys(inputs).map((name) => `{{${name}}}`);
  switch (drawn(structures, draws)) {
    case 'decompose':
      if ('plan' in inputs) return null;
      return {
        edit: 'decompose',
        step: id,
        prompt: [...given, townWanted].join('\n'),
        messages: withLine(messages, 'The town: {{plan}}'),
      };
    case 'plan':
      if ('plan' in inputs) return null;
      return {
        edit: 'decompose',
        step: id,
        prompt: [...given, 'Make a plan for the answer.'].join('\n'),
        messages: withLine(messages, 'The plan: {{plan}}'),
      };
    case 'critique': {
      if ('draft' in inputs) return null;
      const seen = [...given, 'Draft: {{draft}}'];
      return {
        edit: 'critique',
        step: id,
        critique: [...seen, townWanted].join('\n'),
        revise: [stepText(messages), ...seen, 'The town: {{critique}}'].join('\n'),
      };
    }
    case 'verify':
      return { edit: 'verify', step: id };
    case 'vote':
      return { edit: 'vote', step: id, samples: 3, by: 'majority' };
  }
}

/** The llm step of the output. */
function outputStep({ steps: all, output }: Graph): LlmStep {
  const step = all.find(({ id }) => id === refHead(output));
  if (step?.type === 'llm') return step;
  return outputStep({ steps: all, output: (step as { over: string }).over, inputs: [] });
}

/** The instruction of a step: its first message. */
function stepText(messages: readonly PromptMessage[]): string {
  return messages[0]!.content;
}

function withLine(messages: readonly PromptMessage[], line: string): PromptMessage[] {
  return messages.map((message, at) =>
    at === messages.length - 1 ? { ...message, content: `${message.content}\n${line}` } : message,
  );
}

function improved(messages: readonly PromptMessage[], learned: Learned, draws: Draws): PromptMessage[] {
  return messages.map((message, at) =>
    at === 0 ? { ...message, content: improve(message.content, learned, draws) } : message,
  );
}

function asEdits(edit: object): string {
  return `Here they are.\n\`\`\`json\n${JSON.stringify([edit])}\n\`\`\``;
}

function drawn<Name extends string>(weights: Readonly<Record<Name, number>>, draws: Draws): Name {
  const all = Object.keys(weights) as Name[];
  return all[draws.weighted(all.map((name) => weights[name]))]!;
}
