/** Deployments by name, and their gates in words. */
import type { Deployment, Listed, Snapshot } from '../../../data/deployment/types.js';
import { count, reward, signed } from '../../../util/format.js';

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
  const on = `on ${count(seeds)} ${seeds === 1 ? 'seed' : 'seeds'}`;
  if (least !== null) return `A mean reward of at least ${reward(least)} ${on}.`;
  return `An improvement of at least ${signed(improvement ?? 0)} ${on}: the lower end of the 95 % interval must reach it.`;
}

/** The verdict of the gate, or the check that is pending. */
export function findingWords(gate: Gate): string {
  const { evaluation, candidate, incumbent, comparison } = gate;
  if (evaluation) {
    const left = `${count(evaluation.seeds_left)} seeds left`;
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

/** The `source` that publishes the content of a version again. */
export function sourceOf({ source }: Deployment, snapshot: Snapshot) {
  const { session_id: sessionId, graph_job_id: graphJobId, candidate_id: candidateId } = source;
  const candidate = candidateId === null ? {} : { candidate_id: candidateId };
  if (sessionId !== null) return { session_id: sessionId, ...candidate };
  if (graphJobId !== null) return { graph_job_id: graphJobId, ...candidate };
  if (snapshot.kind === 'graph') throw new Error('The job of this graph is unknown.');
  return { messages: snapshot.messages, policy: snapshot.policy };
}
