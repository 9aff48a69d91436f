/**
 * Worlds in which a model is called. As in worlds of rules each topic demands a word; here a task model answers an input of a
 * few topics with a word on each, and its answer is scored: the share of the words that are right. What nobody told it, it
 * guesses among a few words of which one is right, by topic and input, so it is right sometimes even with the baseline.
 *
 *   examples       the model goes by what the instruction states, and else by what earlier answers in the messages show
 *   instructions   it goes by what the instruction states alone: demonstrations are useless
 */
import { drawsOfSeed, drawsOfText } from './draws.js';
import { readPrompt, writePrompt } from './statements.js';
import { answerQuestion } from './task-proposer.js';
import { demonstrated, inputIn, readAnswer, reply, writeAnswer, writeInput, type ChatMessage } from './task-texts.js';
import { drawTopics, drawWord, meanOver, streams } from './topics.js';
import type { Judgement } from './world.js';

export const taskKinds = ['examples', 'instructions'] as const;
export type TaskKind = (typeof taskKinds)[number];

/** Everything follows from kind and seed. The same messages get the same answer. */
export interface TaskWorld {
  kind: TaskKind;
  baseline: string;
  /** The instruction that states all. */
  perfect: string;
  /** What an instance asks of the task model. */
  input(seed: number): string;
  /** The right answer. */
  expected(seed: number): string;
  /** What the task model answers; the messages as our proxy or as DSPy's ChatAdapter sends them. */
  answer(messages: readonly ChatMessage[]): string;
  score(seed: number, answer: string): Judgement;
  /** The mean reward over all instances of messages that an instance's input is put behind. */
  trueReward(prompt: readonly ChatMessage[]): number;
  /** What the proposer answers to a reflection, a request for an instruction, or a question about the data. */
  propose(messages: readonly ChatMessage[]): string;
}

const baseline = 'Answer the customer kindly and to the point.';
const shape = { topics: 18, most: 3 };
/** Words among which the model guesses; one of them is right. */
const guesses = 4;

export function openTaskWorld(kind: TaskKind, worldSeed: number): TaskWorld {
  const { rules, about, said } = drawTopics(worldSeed, { ...shape, shuffledFeedback: false });
  const guessable = drawGuesses(worldSeed, rules);

  const input = (seed: number) => writeInput(about(seed), seed);

  function answer(messages: readonly ChatMessage[]): string {
    const asked = inputIn(messages.findLast(({ role }) => role === 'user')?.content ?? '');
    if (!asked) return reply(messages, () => 'Which topic is it about?');
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    const stated = statedIn(system.join('\n'));
    const shown = kind === 'examples' ? demonstrated(messages) : new Map<string, string>();
    const words = asked.topics.map((topic) => {
      return [topic, stated.get(topic) ?? shown.get(topic) ?? guess(topic, asked.text)] as const;
    });
    return reply(messages, () => writeAnswer(words));
  }

  function guess(topic: string, text: string): string {
    const among = guessable.get(topic);
    return among ? among[drawsOfText(`${worldSeed}\n${topic}\n${text}`).below(guesses)]! : 'nothing';
  }

  function score(seed: number, given: string): Judgement {
    const asked = about(seed);
    const words = readAnswer(given);
    const kept = asked.filter((topic) => words.get(topic) === rules.get(topic));
    return { reward: kept.length / asked.length, feedback: said(asked, kept).join(' ') };
  }

  return {
    kind,
    baseline,
    perfect: writePrompt([baseline], rules),
    input,
    expected: (seed) => writeAnswer(about(seed).map((topic) => [topic, rules.get(topic)!])),
    answer,
    score,
    trueReward: (prompt) =>
      meanOver((seed) => score(seed, answer([...prompt, { role: 'user', content: input(seed) }])).reward),
    propose: (messages) => answerQuestion(messages, worldSeed),
  };
}

/** The statements of an instruction, however deep DSPy indents it. */
function statedIn(system: string): ReadonlyMap<string, string> {
  return readPrompt(system.replace(/^[ \t]+/gm, '')).stated;
}

function drawGuesses(worldSeed: number, rules: ReadonlyMap<string, string>): ReadonlyMap<string, string[]> {
  const draws = drawsOfSeed(worldSeed, streams.guesses);
  return new Map(
    [...rules].map(([topic, word]) => {
      const among = new Set([word]);
      while (among.size < guesses) among.add(drawWord(draws));
      return [topic, draws.shuffled([...among])];
    }),
  );
}
