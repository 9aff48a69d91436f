import { textDraws, type Draws } from './draws.js';
import { everyRegister, readPrompt, registerOn, writePrompt } from './statements.js';
import { drawWord } from './topics.js';

/** A lesson from feedback: a statement's key and content. */
export type Lesson = readonly [key: string, value: string];

/** The proposer's odds in percent. */
export interface Odds {
  lesson: number;
  forgetful: number;
  wrong: number;
  redundant: number;
}

/** No better than a model. */
const modelOdds: Odds = { lesson: 60, forgetful: 15, wrong: 12, redundant: 13 };

/** How many lessons the proposer adds at once, and its odds. */
interface Habits {
  atOnce: number;
  odds: Odds;
}

const advice = [
  'Be thorough.',
  'Read the message twice.',
  'Stay calm.',
  'Think step by step.',
  'Be precise.',
  'Be brief.',
];

/**
 * The proposer: adds `atOnce` lessons from the feedback to the instruction, with occasional losses,
 * errors and useless advice. Reads both optimizers' prompts: the first fence is the instruction.
 */
export function reflect(
  reflection: string,
  worldSeed: number,
  lessonsIn: (shown: string, instruction: string) => Lesson[],
  { atOnce = 1, odds = modelOdds }: Partial<Habits> = {},
): string {
  const { instruction, rest } = readFrame(reflection);
  const lessons = lessonsIn(rest, instruction);
  const demand = demandIn(rest);
  const draws = textDraws([worldSeed, instruction, lessons.join(';'), ...(demand ? [demand] : [])].join('\n'));
  if (demand) return inFence(answerDemand(demand, instruction, lessons, draws, odds));
  return inFence(rewrite(instruction, lessons, draws, { atOnce, odds }));
}

/** What a stalled search of the service demands instead of a revision. */
export type Demand = 'restart' | 'compress';

/** The demand of a request, by its words; null: a revision. */
export function demandIn(rest: string): Demand | null {
  if (rest.includes('Write a shorter new instruction')) return 'compress';
  return rest.includes('Write a new instruction for the assistant from the beginning') ? 'restart' : null;
}

/** Without repeats and advice; a restart adds all lessons, a compression may lose a rule. */
export function answerDemand(
  demand: Demand,
  instruction: string,
  lessons: readonly Lesson[],
  draws: Draws,
  odds: Odds = modelOdds,
): string {
  const { other, stated } = readPrompt(instruction);
  const needed = [...new Set(other)].filter((line) => !advice.includes(line));
  if (demand === 'restart') return rewrite(writePrompt(needed, stated), lessons, draws, { atOnce: Infinity, odds });
  const keys = [...stated.keys()];
  if (keys.length > 0 && draws.below(100) < odds.forgetful) stated.delete(keys[draws.below(keys.length)]!);
  return writePrompt(needed, stated);
}

/** The instruction in the first fence, and the text after it; without a fence: empty, and all. */
export function readFrame(question: string): { instruction: string; rest: string } {
  const [frame = '', , instruction = ''] = /^(`{3,})[^\n]*\n([\s\S]*?)\n\1\s*$/m.exec(question) ?? [];
  return { instruction, rest: question.slice(question.indexOf(frame) + frame.length) };
}

/** The proposer's answer in the format that gepa and the service request. */
export function inFence(instruction: string): string {
  return `Here is a better instruction.\n\`\`\`\n${instruction}\n\`\`\``;
}

/** The instruction with up to `atOnce` lessons, subject to the odds. */
export function rewrite(
  instruction: string,
  lessons: readonly Lesson[],
  draws: Draws,
  { atOnce = 1, odds = modelOdds }: Partial<Habits> = {},
): string {
  const { lesson, forgetful, wrong, redundant } = odds;
  const weights = [lesson, forgetful, wrong, redundant];
  const habit = (['lesson', 'forgetful', 'wrong', 'redundant'] as const)[draws.weighted(weights)]!;
  const { other, stated } = readPrompt(instruction);
  const learned = pick(lessons, atOnce, draws);
  if (learned.length === 0 || habit === 'redundant') {
    other.push(advice[draws.below(advice.length)]!);
  } else {
    const old = [...stated.keys()].filter((key) => !learned.some(([known]) => known === key));
    if (habit === 'forgetful' && old.length > 0) stated.delete(old[draws.below(old.length)]!);
    learned.forEach(([key, value], at) => {
      stated.set(key, habit === 'wrong' && at === 0 ? misread(value, draws) : value);
    });
  }
  return writePrompt(other, stated);
}

/** Up to `count` lessons on different keys; frequent lessons are more likely. */
function pick(lessons: readonly Lesson[], count: number, draws: Draws): Lesson[] {
  const picked: Lesson[] = [];
  let left = lessons;
  do {
    const lesson = left[draws.below(Math.max(1, left.length))];
    if (!lesson) break;
    left = left.filter(([key]) => key !== lesson[0]);
    picked.push(widened(lesson, draws));
  } while (picked.length < count && left.length > 0);
  return picked;
}

function widened([key, value]: Lesson, draws: Draws): Lesson {
  return [key.startsWith(registerOn('')) && draws.below(2) === 0 ? everyRegister : key, value];
}

function misread(value: string, draws: Draws): string {
  if (value === 'formal') return 'plain';
  return value === 'plain' ? 'formal' : drawWord(draws);
}
