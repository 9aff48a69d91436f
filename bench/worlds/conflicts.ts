/**
 * A world of rules that conflict. Beside its words each topic wants a register, formal or plain, and an instance wants that of
 * the gravest of its topics; in the wrong one it earns half. A prompt states one register for all messages (formal, where
 * it states none) and exceptions by topic, of which the gravest counts. So mending one message may break others: by the
 * line for all, or by an exception for a lesser topic of messages that were right as long as nothing was said of it.
 */
import { drawsOfSeed } from './draws.js';
import { reflect, type Lesson } from './proposer.js';
import { baseline } from './rules.js';
import { everyRegister, readPrompt, registerOn, writePrompt, type Register } from './statements.js';
import { drawTopics, instances, meanOver, streams, wordsIn, type Topics } from './topics.js';
import type { Judgement, World } from './world.js';

const component = 'instruction';
const shape = { topics: 12, most: 3 };
/** Of a hundred instances, how many want plain. */
const plain = { least: 35, most: 45 };

export function conflictsWorld(worldSeed: number, shuffledFeedback = false): World {
  const topics = drawTopics(worldSeed, { ...shape, shuffledFeedback });
  const { rules, about, said } = topics;
  const { registers, gravest } = drawRegisters(worldSeed, topics);

  function judge(stated: ReadonlyMap<string, string>, seed: number): Judgement {
    const asked = about(seed);
    const kept = asked.filter((topic) => stated.get(topic) === rules.get(topic));
    const cause = gravest(asked)!;
    const wanted = registers.get(cause)!;
    const excepted = gravest(asked.filter((topic) => stated.has(registerOn(topic))));
    const register = stated.get(excepted === undefined ? everyRegister : registerOn(excepted)) ?? 'formal';
    const right = register === wanted;
    const demanded = shuffledFeedback ? other(wanted) : wanted;
    const onRegister = right ? 'Right register.' : `Wrong register on ${cause}: it must be ${demanded}.`;
    return {
      reward: (kept.length / asked.length) * (right ? 1 : 0.5),
      feedback: [...said(asked, kept), onRegister].join(' '),
    };
  }

  const exceptions = [...registers].map(([topic, register]) => [registerOn(topic), register] as const);
  return {
    kind: 'conflicts',
    components: [component],
    baseline: { [component]: baseline },
    perfect: { [component]: writePrompt([baseline], new Map([...rules, ...exceptions])) },
    score: (texts, seed) => judge(readPrompt(texts[component]!).stated, seed),
    trueReward(texts) {
      const { stated } = readPrompt(texts[component]!);
      return meanOver((seed) => judge(stated, seed).reward);
    },
    reflect: (reflection) => reflect(reflection, worldSeed, lessonsIn),
  };
}

interface Registers {
  /** Topic to the register that it wants. */
  registers: ReadonlyMap<string, Register>;
  /** Of some topics the one that decides; undefined: there are none. */
  gravest(some: readonly string[]): string | undefined;
}

/** Draws until about 60 of a hundred instances want formal. */
function drawRegisters(worldSeed: number, { rules, about }: Topics): Registers {
  const draws = drawsOfSeed(worldSeed, streams.registers);
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
