/** What the seeds of a job stand for, and how they are scored. */
import { canonicalJson } from '../../util/json.js';
import type { ContainerSpec, JobSpec, RowsSpec } from './spec.js';

/** `tasks`: a digest of a graph job's tasks; `traffic`: seeds named by the callers of a session. */
export type Instances =
  | ({ kind: 'rows' } & Pick<RowsSpec, 'datasetId' | 'expected' | 'scorer'>)
  | ({ kind: 'container' } & Pick<ContainerSpec, 'url' | 'envName' | 'envConfig'>)
  | { kind: 'tasks'; tasks: string; verifier: unknown }
  | { kind: 'traffic'; jobId: string };

/** `tasks`: the digest of a graph job's tasks, else null. */
export function instancesOf(jobId: string, spec: JobSpec, tasks: string | null): Instances {
  if (spec.kind === 'graph') return { kind: 'tasks', tasks: tasks!, verifier: spec.verifier };
  if (spec.rows) {
    const { datasetId, expected, scorer } = spec.rows;
    return { kind: 'rows', datasetId, expected, scorer };
  }
  if (!spec.container) return { kind: 'traffic', jobId };
  const { url, envName, envConfig } = spec.container;
  return { kind: 'container', url, envName, envConfig };
}

/**
 * What decides the rewards of a job, as text: jobs with equal ones are on one scale. null: no other
 * job has its instances.
 */
export function comparableOf(jobId: string, spec: JobSpec, tasks: string | null): string | null {
  const instances = instancesOf(jobId, spec, tasks);
  return instances.kind === 'traffic' ? null : canonicalJson([instances, decidingSeeds(spec)]);
}

/** The held-out seeds of a search, else those that select; all of an evaluation. */
function decidingSeeds(spec: JobSpec): number[] {
  if (spec.kind === 'evaluation') return spec.seeds.toSorted((a, b) => a - b);
  const { heldoutSeeds, evaluationSeeds } = spec.search;
  return (heldoutSeeds.length > 0 ? heldoutSeeds : evaluationSeeds).toSorted((a, b) => a - b);
}

/** How a text names things: side a, and data sets that have a name. */
export interface InstanceNames {
  a?: string;
  datasets?: ReadonlyMap<string, string>;
}

/** An id with the name that people know. */
export const withName = (id: string, name: string | null | undefined): string => (name ? `${id} ("${name}")` : id);

/** Why equal seeds of `a` and `b` are not the same instances, said of `b`; null: they are. */
export function instancesProblem(
  a: Instances,
  b: Instances,
  { a: nameOfA = 'side a', datasets }: InstanceNames = {},
): string | null {
  const isEqual = (left: unknown, right: unknown) => canonicalJson(left) === canonicalJson(right);
  if (isEqual(a, b)) return null;
  const datasetName = ({ datasetId: id }: { datasetId: string }) => withName(id, datasets?.get(id));
  if (a.kind === 'rows' && b.kind === 'rows') {
    if (a.datasetId !== b.datasetId)
      return `runs on the data set ${datasetName(b)}, but ${nameOfA} runs on ${datasetName(a)}`;
    return `is scored differently from ${nameOfA}: compare jobs with the same scorer and the same column of right answers`;
  }
  if (a.kind === 'container' && b.kind === 'container') {
    if (a.url !== b.url) return `runs in the container ${b.url}, but ${nameOfA} in ${a.url}`;
    if (a.envName !== b.envName) return `has env_name ${nameOf(b.envName)}, but ${nameOfA} has ${nameOf(a.envName)}`;
    return `has another env_config than ${nameOfA}, so its seeds may be other instances`;
  }
  if (a.kind === 'tasks' && b.kind === 'tasks') {
    if (a.tasks !== b.tasks) return `has other tasks than ${nameOfA}: compare graph jobs with the same data set`;
    return `has another verifier than ${nameOfA}: compare graph jobs with the same verifier_config`;
  }
  if (a.kind === 'traffic' && b.kind === 'traffic')
    return 'runs on live traffic of another session: seeds of live traffic are compared within one session only';
  return `runs on ${nouns[b.kind]}, but ${nameOfA} runs on ${nouns[a.kind]}: equal numbers are not the same instances`;
}

const nouns = {
  rows: 'the rows of a data set',
  container: "a container's seeds",
  tasks: "a graph job's tasks",
  traffic: 'live traffic',
} as const satisfies Record<Instances['kind'], string>;

const nameOf = (name: string | null) => (name === null ? 'null' : `"${name}"`);
