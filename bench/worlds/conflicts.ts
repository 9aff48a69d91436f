/**
 * A world of conflicting rules: an instance's gravest topic decides its register, and the wrong one
 * halves the reward. A prompt's default register or exceptions may break other instances.
 */
import { seededDraws } from './draws.js';
import { reflect, type Lesson } from './proposer.js';
import { baseline } from './rules.js';
import { everyRegister, readPrompt, registerOn, writePrompt, type Register } from './statements.js';
import { drawTopics, instances, meanOver, streams, wordsIn, type Topics } from './topics.js';
import type { Judgement, World } from './world.js';

const component = 'instruction';
const shape = { topics: 12, most: 3 };
/** Percentage of instances that want plain. */
const plain = { least: 35, most: 45 };

export function conflictsWorld(worldSeed: number, shuffledFeedback = false): World {
  const topics = drawTopics(worldSeed, { ...shape, shuffledFeedback });
  const { rules, about, feedbackOn } = topics;
  const { registers, gravest } = drawRegisters(worldSeed, topics);

  function judge(stated: ReadonlyMap<string, string>, seed: number): Judgement {
    const wantedTopics = about(seed);
    const kept = wantedTopics.filter((topic) => stated.get(topic) === rules.get(topic));
    const cause = gravest(wantedTopics)!;
    const wanted = registers.get(cause)!;
    const excepted = gravest(wantedTopics.filter((topic) => stated.has(registerOn(topic))));
    const register = stated.get(excepted === undefined ? everyRegister : registerOn(excepted)) ?? 'formal';
    const right = register === wanted;
    const demanded = shuffledFeedback ? other(wanted) : wanted;
    const onRegister = right ? 'Right register.' : `Wrong register on ${cause}: it must be ${demanded}.`;
    return {
      reward: (kept.length / wantedTopics.length) * (right ? 1 : 0.5),
      feedback: [...feedbackOn(wantedTopics, kept), onRegister].join(' '),
    };
  }

  const exceptions = [...registers].map(([topic, register]) => [registerOn(topic), register] as const);
  return {
    kind: 'conflicts',
    components: [component],
    baseline: { [component]: baseline },
    perfect: { [component]: writePrompt([baseline], new Map([...rules, ...exceptions])) },
    flipped: 0,
    score: (texts, seed) => judge(readPrompt(texts[component]!).stated, seed),
    trueReward(texts) {
      const { stated } = readPrompt(texts[component]!);
      return meanOver((seed) => judge(stated, seed).reward);
    },
    reflect: (reflection) => reflect(reflection, worldSeed, lessonsIn),
  };
}

interface Registers {
  /** Register by topic. */
  registers: ReadonlyMap<string, Register>;
  /** The deciding topic; undefined: none. */
  gravest(some: readonly string[]): string | undefined;
}

/** Draws until about 60 % of the instances want formal. */
function drawRegisters(worldSeed: number, { rules, about }: Topics): Registers {
  const draws = seededDraws(worldSeed, streams.registers);
  for (;;) {
    const order = draws.shuffled([...rules.keys()]);
    const gravest = (some: readonly string[]) => order.find((topic) => some.includes(topic));
    const registers = new Map(order.map((topic) => [topic, draws.below(100) < 40 ? 'plain' : 'formal'] as const));
    let count = 0;
    for (let seed = 0; seed < instances; seed++) count += Number(registers.get(gravest(about(seed))!) === 'plain');
    const share = (100 * count) / instances;
    if (share >= plain.least && share <= plain.most) return { registers, gravest };
  }
}

function lessonsIn(shown: string): Lesson[] {
  const registers = [...shown.matchAll(/Wrong register on (\S+): it must be (formal|plain)\./g)];
  return [...wordsIn(shown), ...registers.map(([, topic, register]) => [registerOn(topic!), register!] as const)];
}

function other(register: Register): Register {
  return register === 'formal' ? 'plain' : 'formal';
}
