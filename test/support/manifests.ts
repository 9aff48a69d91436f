/** The manifests in deploy/kubernetes, and what a kubelet would run of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { IConfigMap, IContainer, IPodSpec, ISecret, IService } from 'kubernetes-models/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { parse, parseAllDocuments } from 'yaml';

const folder = join(import.meta.dirname, '../../deploy/kubernetes');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

export type Manifest = IDeployment | IJob | IConfigMap | ISecret | IService | INetworkPolicy | IPodDisruptionBudget;
type Workload = IDeployment | IJob;

export const kustomization = parse(read('kustomization.yaml')) as {
  resources: string[];
  images: { name: string; newTag: string }[];
};

export const files = readdirSync(folder).filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml');

/** All objects, those of the example of secrets among them. */
export const manifests = files.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as Manifest),
);

const isWorkload = (manifest: Manifest): manifest is Workload => ['Deployment', 'Job'].includes(manifest.kind);

/** The three roles, in the order in which they start. */
export const workloads = manifests
  .filter(isWorkload)
  .sort((one, other) => other.kind.localeCompare(one.kind) || one.metadata!.name!.localeCompare(other.metadata!.name!));

/** An object that another one names. */
export function named<Kind extends Manifest['kind']>(kind: Kind, name: string): Extract<Manifest, { kind: Kind }> {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata?.name === name);
  if (!found) throw new Error(`no ${kind} is called ${name}`);
  return found as Extract<Manifest, { kind: Kind }>;
}

export const podOf = ({ spec }: Workload): IPodSpec => spec!.template.spec!;
export const containerOf = (workload: Workload): IContainer => podOf(workload).containers[0]!;

/** The variables of a container, as a kubelet reads them from config maps and secrets. */
export function variablesOf(workload: Workload): Record<string, string> {
  const { envFrom = [], env = [] } = containerOf(workload);
  if (env.length > 0) throw new Error('variables of a container of its own are not read here');
  return Object.assign(
    {},
    ...envFrom.map(({ configMapRef, secretRef }) =>
      configMapRef ? named('ConfigMap', configMapRef.name!).data : named('Secret', secretRef!.name!).stringData,
    ),
  ) as Record<string, string>;
}
