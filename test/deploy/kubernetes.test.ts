import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import ts from 'typescript';
import { checkRoles, readConfig } from '../../src/service/config.js';
import { settingNames } from '../../src/service/settings.js';
import { version } from '../../src/service/version.js';
import {
  containerOf,
  files,
  kustomization,
  manifests,
  named,
  podOf,
  variablesOf,
  workloads,
  type Manifest,
} from '../support/manifests.js';

// Static checks of deploy/kubernetes; kubernetes.long.test.ts starts what it describes.

const root = join(import.meta.dirname, '../..');
const names = manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata!.name}`, manifest] as const);
const roles = workloads.map((workload) => [containerOf(workload).name, workload] as const);
const deployments = ['api', 'worker'].map((role) => [role, named('Deployment', `ratchet-${role}`)] as const);
const filled = (env: Record<string, string>) => ({
  ...env,
  RATCHET_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  ...('RATCHET_API_KEY' in env && { RATCHET_API_KEY: 'k'.repeat(48) }),
});

describe('by the schemas of Kubernetes', () => {
  function validate(manifest: Manifest): void {
    if (manifest.kind === 'Deployment') new Deployment(manifest).validate();
    else if (manifest.kind === 'Job') new Job(manifest).validate();
    else if (manifest.kind === 'Service') new Service(manifest).validate();
    else if (manifest.kind === 'ConfigMap') new ConfigMap(manifest).validate();
    else if (manifest.kind === 'Secret') new Secret(manifest).validate();
    else if (manifest.kind === 'NetworkPolicy') new NetworkPolicy(manifest).validate();
    else new PodDisruptionBudget(manifest).validate();
  }

  test.each(names)('%s is valid', (_, manifest) => {
    validate(manifest);
  });

  // The schemas let unknown fields pass; the types do not, in a literal.
  test('no field is unknown', () => {
    const literals = manifests.map((manifest, i) => `const m${i}: I.Manifest = ${JSON.stringify(manifest)};`);
    const file = join(root, 'test/support/literals-of-manifests.ts');
    const text = `import type * as I from './manifests.js';\n${literals.join('\n')}\n`;
    const options: ts.CompilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      types: ['node'],
    };
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists } = host;
    host.fileExists = (name) => name === file || fileExists(name);
    host.getSourceFile = (name, ...rest) =>
      name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
    const program = ts.createProgram([file], options, host);
    const faults = program.getSemanticDiagnostics(program.getSourceFile(file));
    expect(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });
});

test('each kind of object is there, and the kustomization names all files but the example', () => {
  expect(names.map(([name]) => name).sort()).toEqual([
    'ConfigMap ratchet',
    'Deployment ratchet-api',
    'Deployment ratchet-worker',
    'Job ratchet-migrate',
    'NetworkPolicy ratchet',
    'NetworkPolicy ratchet-api',
    'PodDisruptionBudget ratchet-api',
    'PodDisruptionBudget ratchet-worker',
    'Secret ratchet',
    'Secret ratchet-api',
    'Secret ratchet-owner',
    'Service ratchet-api',
  ]);
  expect([...kustomization.resources, 'secret.example.yaml'].sort()).toEqual([...files].sort());
  expect(kustomization.images).toMatchObject([{ name: 'ratchet', newTag: version }]);
});

describe.each(roles)('%s', (role, workload) => {
  const pod = podOf(workload);
  const container = containerOf(workload);

  test('runs the image of this version as its user, who owns and may nothing', () => {
    expect(container.image).toBe(`ratchet:${version}`);
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toMatch(/^USER node$/m);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources!.limits).toHaveProperty('memory');
  });

  test('has only known settings', () => {
    const known = [...settingNames, 'TEMPORAL_NAMESPACE'];
    expect(Object.keys(variablesOf(workload)).filter((name) => !known.includes(name))).toEqual([]);
  });

  test("only the migration has the owner's credentials, only the API the first key", () => {
    expect('DATABASE_URL' in variablesOf(workload)).toBe(role === 'migrate');
    expect('RATCHET_API_KEY' in variablesOf(workload)).toBe(role === 'api');
  });
});

describe.each(deployments)('%s', (role, deployment) => {
  const pod = podOf(deployment);
  const { ports, livenessProbe, readinessProbe } = containerOf(deployment);
  const config = readConfig(filled(variablesOf(deployment)));

  test('has all settings of its role', () => {
    checkRoles(config, { serve: role === 'api', work: role === 'worker' });
    expect(config).toMatchObject({ host: '0.0.0.0', metricsHost: '0.0.0.0', notes: [] });
  });

  test('listens on the ports that probes and Prometheus use', () => {
    const numbers = Object.fromEntries(ports!.map(({ name, containerPort }) => [name, containerPort]));
    expect(numbers).toEqual({ health: config.metricsPort, ...(role === 'api' && { http: config.port }) });
    const { annotations } = deployment.spec!.template.metadata!;
    expect(annotations).toMatchObject({ 'prometheus.io/port': String(config.metricsPort) });
    expect(livenessProbe!.httpGet).toEqual({ path: '/livez', port: 'health' });
    expect(readinessProbe!.httpGet).toEqual({
      path: role === 'api' ? '/readyz?exclude=worker,temporal' : '/readyz',
      port: 'health',
    });
    // Longer than the slowest check.
    for (const probe of [livenessProbe!, readinessProbe!]) expect(probe.timeoutSeconds).toBeGreaterThanOrEqual(4);
  });

  test('is stopped one after another, with time for what is in flight', () => {
    const { replicas, strategy, selector, template } = deployment.spec!;
    expect([replicas, strategy!.rollingUpdate]).toEqual([2, { maxSurge: 1, maxUnavailable: 0 }]);
    // Of `serve` and `worker`, with preStop.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(role === 'api' ? 35 : 30);
    const budget = named('PodDisruptionBudget', `ratchet-${role}`).spec!;
    expect(budget).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector });
    expect(template.metadata!.labels).toEqual(selector.matchLabels);
  });

  test('may write to /tmp alone', () => {
    expect(containerOf(deployment).volumeMounts).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
    expect(pod.volumes).toEqual([{ name: 'tmp', emptyDir: { sizeLimit: '256Mi' } }]);
  });
});

test('the Service is the public URL, answers its names, and finds the API', () => {
  const service = named('Service', 'ratchet-api').spec!;
  const config = readConfig(filled(variablesOf(named('Deployment', 'ratchet-api'))));
  const url = new URL(config.publicUrl!);
  expect(url.hostname.split('.')[0]).toBe('ratchet-api');
  expect(service.ports).toEqual([{ name: 'http', port: Number(url.port), targetPort: 'http' }]);
  expect(named('Deployment', 'ratchet-api').spec!.selector.matchLabels).toEqual(service.selector);
  expect(config.allowedHosts).toContain('ratchet-api');
});

test('nothing but Prometheus reaches the port without a key, and no pod the metadata of its machine', () => {
  const { ingress, egress } = named('NetworkPolicy', 'ratchet').spec!;
  expect(ingress!.flatMap(({ ports }) => ports!.map(({ port }) => port))).toEqual(['health']);
  expect(egress![0]!.to![0]).toEqual({ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.169.254/32'] } });
  const api = named('NetworkPolicy', 'ratchet-api').spec!;
  expect(api.ingress!.flatMap(({ ports }) => ports!.map(({ port }) => port))).toEqual(['http']);
});
