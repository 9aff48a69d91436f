/** Random sets of demonstrations: new ones that cover every answer, and changes to a set. */
import { shuffle, uniformInt, type Rng } from '../../math/random.js';
import { rolloutsOf } from '../../search/results.js';
import type { DemoSet, MiproState, UsableDemos } from './state.js';

/** `balanced`: a new set; `replaced`: half of a set is exchanged; `reordered`: the same ones. */
export type Draw = 'balanced' | 'replaced' | 'reordered';

/** A drawn set; it may equal a known one. */
export function drawSet(
  state: Pick<MiproState, 'results' | 'config'>,
  usable: UsableDemos,
  own: DemoSet,
  draw: Draw,
  start: Rng,
): [set: DemoSet, next: Rng] {
  const { maxBootstrappedDemos, maxLabeledDemos } = state.config;
  const most = Math.max(maxBootstrappedDemos, maxLabeledDemos);
  const [mixed, afterOwn] = shuffle(start, [...own.bootstrapped, ...own.labeled]);
  if (draw === 'reordered') return [setOf(state, usable, mixed), afterOwn];
  const kept = draw === 'replaced' ? mixed.slice(0, Math.ceil(mixed.length / 2)) : [];
  const [others, afterOthers] = drawBalanced(usable, kept, afterOwn);
  const [fewer, afterSize] = draw === 'replaced' ? uniformInt(afterOthers, Math.floor(most / 2) + 1) : [0, afterOthers];
  const [ordinals, next] = shuffle(afterSize, [...kept, ...others].slice(0, Math.max(1, most - fewer)));
  return [setOf(state, usable, ordinals), next];
}

/** The other usable rollouts: with `kept`, each beginning has every shared answer equally often. */
function drawBalanced(usable: UsableDemos, kept: readonly number[], start: Rng): [ordinals: number[], next: Rng] {
  const shared = new Set(usable.sameAnswer.flat());
  const single = [...new Set([...usable.bootstrapped, ...usable.labeled])].filter((ordinal) => !shared.has(ordinal));
  const [groups, afterGroups] = shuffle(start, [...usable.sameAnswer, single]);
  let rng = afterGroups;
  const ranked = groups.flatMap((group) => {
    const others = group.filter((ordinal) => !kept.includes(ordinal));
    const [mixed, next] = shuffle(rng, others);
    rng = next;
    return mixed.map((ordinal, index) => ({ ordinal, rank: group.length - others.length + index }));
  });
  return [ranked.sort((left, right) => left.rank - right.rank).map(({ ordinal }) => ordinal), rng];
}

/** The set of rollouts in their order, each seed once; good ones show the model's answer. */
function setOf(
  { results, config }: Pick<MiproState, 'results' | 'config'>,
  usable: UsableDemos,
  from: number[],
): DemoSet {
  const seedOf = new Map(rolloutsOf(results).map(({ ordinal, seed }) => [ordinal, seed]));
  const set: DemoSet = { bootstrapped: [], labeled: [] };
  const seeds = new Set<number | undefined>();
  for (const ordinal of from) {
    const seed = seedOf.get(ordinal);
    if (seeds.has(seed)) continue;
    const isGood = usable.bootstrapped.includes(ordinal) && set.bootstrapped.length < config.maxBootstrappedDemos;
    const hasRoom = set.bootstrapped.length + set.labeled.length < config.maxLabeledDemos;
    if (!isGood && !(hasRoom && usable.labeled.includes(ordinal))) continue;
    (isGood ? set.bootstrapped : set.labeled).push(ordinal);
    seeds.add(seed);
  }
  return set;
}
