/**
 * A world with three components. A topic's rule must be stated in its one or two components: both,
 * if it has two. Feedback names the component that must state it.
 */
import { seededDraws } from './draws.js';
import { reflect, type Lesson } from './proposer.js';
import { readPrompt, writePrompt } from './statements.js';
import { drawTopics, meanOver, streams } from './topics.js';
import type { Texts, World } from './world.js';

const components = ['plan', 'answer', 'check'] as const;
type Component = (typeof components)[number];

/** The first line names the component, so that a proposer knows which one it rewrites. */
const baseline: Record<Component, string> = {
  plan: '# plan\nFind out what the customer wants.',
  answer: '# answer\nAnswer the customer kindly and to the point.',
  check: '# check\nRead the answer again before it is sent.',
};

const shape = { topics: 18, most: 3 };
/** Percentage of topics that need two components. */
const needTwo = 50;
/** A proposer that fixes one fault at a time can never gain from these topics. */
const lessonsAtOnce = 2;

export function componentsWorld(worldSeed: number, shuffledFeedback = false): World {
  const { rules, taught, about } = drawTopics(worldSeed, { ...shape, shuffledFeedback });
  const draws = seededDraws(worldSeed, streams.components);
  const indexes = new Map(
    [...rules.keys()].map((topic) => {
      const two = draws.below(100) < needTwo;
      return [topic, draws.shuffled(components).slice(0, two ? 2 : 1)] as const;
    }),
  );
  const named = (component: Component) =>
    shuffledFeedback ? components[(components.indexOf(component) + 1) % components.length]! : component;

  function missing(texts: Texts): (topic: string) => Component[] {
    const stated = new Map(components.map((component) => [component, readPrompt(texts[component]!).stated]));
    return (topic) => indexes.get(topic)!.filter((component) => stated.get(component)!.get(topic) !== rules.get(topic));
  }
  const reward = (wanted: readonly string[], lacks: (topic: string) => Component[]) =>
    wanted.filter((topic) => lacks(topic).length === 0).length / wanted.length;

  return {
    kind: 'components',
    components,
    baseline,
    perfect: Object.fromEntries(
      components.map((component) => {
        const own = [...rules].filter(([topic]) => indexes.get(topic)!.includes(component));
        return [component, writePrompt([baseline[component]], new Map(own))];
      }),
    ),
    flipped: 0,
    score(texts, seed) {
      const wanted = about(seed);
      const lacks = missing(texts);
      const lines = wanted.flatMap((topic) => {
        const lacking = lacks(topic);
        if (lacking.length === 0) return `Right on ${topic}.`;
        return lacking.map(
          (component) => `Wrong on ${topic}: the ${named(component)} must say "${taught.get(topic)}".`,
        );
      });
      return { reward: reward(wanted, lacks), feedback: lines.join(' ') };
    },
    trueReward(texts) {
      const lacks = missing(texts);
      return meanOver((seed) => reward(about(seed), lacks));
    },
    reflect: (reflection) => reflect(reflection, worldSeed, lessonsIn, { atOnce: lessonsAtOnce }),
  };
}

function lessonsIn(shown: string, instruction: string): Lesson[] {
  const [, own] = /^# (\w+)/.exec(instruction) ?? [];
  return [...shown.matchAll(/Wrong on (\S+): the (\w+) must say "([^"]+)"\./g)]
    .filter(([, , component]) => component === own)
    .map(([, topic, , word]) => [topic!, word!]);
}
