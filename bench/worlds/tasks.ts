/**
 * Worlds with a task model: an answer has a word per topic; the reward is the share of right words,
 * guessed if unknown. `examples`: it also follows demonstrations; `instructions`: it does not.
 */
import { seededDraws, textDraws } from './draws.js';
import { readPrompt, writePrompt } from './statements.js';
import { answerQuestion } from './task-proposer.js';
import { demonstrated, inputIn, readAnswer, reply, writeAnswer, writeInput, type ChatMessage } from './task-texts.js';
import { drawTopics, drawWord, meanOver, streams } from './topics.js';
import type { Judgement } from './world.js';

export const taskKinds = ['examples', 'instructions'] as const;
export type TaskKind = (typeof taskKinds)[number];

/** Deterministic by kind and seed; identical messages get identical answers. */
export interface TaskWorld {
  kind: TaskKind;
  baseline: string;
  /** The instruction that states every rule. */
  perfect: string;
  /** An instance's input. */
  input(seed: number): string;
  /** The right answer. */
  expected(seed: number): string;
  /** The task model's answer; messages as sent by our proxy or DSPy's ChatAdapter. */
  answer(messages: readonly ChatMessage[]): string;
  score(seed: number, answer: string): Judgement;
  /** The mean reward over all instances of messages before an input. */
  trueReward(prompt: readonly ChatMessage[]): number;
  /**
   * The proposer's answer to a reflection, a request for an instruction, or a question about data.
   */
  propose(messages: readonly ChatMessage[]): string;
}

const baseline = 'Answer the customer kindly and to the point.';
const shape = { topics: 18, most: 3 };
/** Number of words to guess from; one is right. */
const guesses = 4;

/** `most`: topics of an instance; with 1 a reward is 0 or 1. */
export function openTaskWorld(kind: TaskKind, worldSeed: number, { most = shape.most } = {}): TaskWorld {
  const { rules, about, feedbackOn } = drawTopics(worldSeed, { ...shape, most, shuffledFeedback: false });
  const guessable = drawGuesses(worldSeed, rules);

  const input = (seed: number) => writeInput(about(seed), seed);

  function answer(messages: readonly ChatMessage[]): string {
    const input = inputIn(messages.findLast(({ role }) => role === 'user')?.content ?? '');
    if (!input) return reply(messages, () => 'Which topic is it about?');
    const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    const stated = statedIn(system.join('\n'));
    const shown = kind === 'examples' ? demonstrated(messages) : new Map<string, string>();
    const words = input.topics.map((topic) => {
      return [topic, stated.get(topic) ?? shown.get(topic) ?? guess(topic, input.text)] as const;
    });
    return reply(messages, () => writeAnswer(words));
  }

  function guess(topic: string, text: string): string {
    const among = guessable.get(topic);
    return among ? among[textDraws(`${worldSeed}\n${topic}\n${text}`).below(guesses)]! : 'nothing';
  }

  function score(seed: number, given: string): Judgement {
    const topics = about(seed);
    const words = readAnswer(given);
    const kept = topics.filter((topic) => words.get(topic) === rules.get(topic));
    return { reward: kept.length / topics.length, feedback: feedbackOn(topics, kept).join(' ') };
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

/** The statements of an instruction, at any indentation. */
function statedIn(system: string): ReadonlyMap<string, string> {
  return readPrompt(system.replace(/^[ \t]+/gm, '')).stated;
}

function drawGuesses(worldSeed: number, rules: ReadonlyMap<string, string>): ReadonlyMap<string, string[]> {
  const draws = seededDraws(worldSeed, streams.guesses);
  return new Map(
    [...rules].map(([topic, word]) => {
      const among = new Set([word]);
      while (among.size < guesses) among.add(drawWord(draws));
      return [topic, draws.shuffled([...among])];
    }),
  );
}
