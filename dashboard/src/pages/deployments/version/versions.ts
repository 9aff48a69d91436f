/** Deployments by name, and their gates in words. */
import type { Change, Deployment, Listed } from '../../../data/deployment/types.js';
import { signed } from '../../../../../src/core/math/words.js';
import { count, makerOf, reward } from '../../../util/format.js';

export interface NameGroup {
  name: string;
  /** null: the name serves nothing, as far as the list goes. */
  live: Listed | null;
  newest: Listed;
  versions: number;
}

/** The names of a list that is newest first, those with the newest version first. */
export function byName(deployments: readonly Listed[]): NameGroup[] {
  const groups = new Map<string, NameGroup>();
  for (const each of deployments) {
    const group = groups.get(each.name) ?? { name: each.name, live: null, newest: each, versions: 0 };
    group.versions += 1;
    if (each.live) group.live = each;
    groups.set(each.name, group);
  }
  return [...groups.values()];
}

type Gate = NonNullable<Deployment['gate']>;

/** What the gate demands. */
export function demandWords({ seeds, min_reward: least, min_improvement: improvement }: Gate): string {
  const on = `on ${count(seeds)} ${seeds === 1 ? 'row' : 'rows'}`;
  if (least !== null) return `A mean reward of at least ${reward(least)} ${on}.`;
  return `An improvement of at least ${signed(improvement ?? 0)} ${on}: the lower end of the 95 % interval must reach it.`;
}

/** The verdict of the gate, or the check that is pending. */
export function findingWords(gate: Gate): string {
  const { evaluation, candidate, incumbent, comparison } = gate;
  if (evaluation) {
    const left = `${count(evaluation.seeds_left)} rows left`;
    return evaluation.status === 'paused'
      ? `Waits for a paused evaluation with ${left}; resume or cancel it.`
      : `Runs an evaluation with ${left}.`;
  }
  const known = [
    candidate && candidate.reward !== null && `the candidate has ${reward(candidate.reward)}`,
    incumbent &&
      incumbent.reward !== null &&
      `${incumbent.deployment_id === null ? 'the baseline' : 'the deployment before'} has ${reward(incumbent.reward)}`,
    comparison &&
      `the difference is ${signed(comparison.difference)} (${signed(comparison.interval.low)} to ${signed(comparison.interval.high)})`,
  ].filter(Boolean);
  if (known.length === 0) return 'Not measured yet.';
  const text = known.join(', ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

/** A change in words: what moved, and who did it. */
export function changeWords({ label, action, from_version: from, to_version: to, by }: Change): string {
  const versions = to === null ? `version ${from} → nothing` : from === null ? `version ${to}` : `${from} → ${to}`;
  const how = { build: 'built', canary: 'rolled out', rollback: 'rolled back', label: 'set', delete: 'deleted' }[
    action
  ];
  return `${label}: ${versions}, ${how} by ${makerOf(by)}.`;
}
