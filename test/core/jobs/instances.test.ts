import { expect, test } from '@jest/globals';
import { instancesOf, instancesProblem, type Instances } from '../../../src/core/jobs/instances.js';
import { anySpec } from '../../support/job.js';

const rows: Instances = { kind: 'rows', datasetId: 'ds_1', expected: 'label', scorer: { kind: 'exact' } as never };
const container = instancesOf('evl_1', anySpec, null);
const tasks: Instances = { kind: 'tasks', tasks: 'digest', verifier: { type: 'exact', fields: { x: 1, y: 2 } } };
const traffic = instancesOf('ses_1', { ...anySpec, container: null }, null);

test('of the same kind and content they are the same, whatever the order of fields', () => {
  for (const instances of [rows, container, tasks, traffic]) {
    expect(instancesProblem(instances, structuredClone(instances))).toBeNull();
  }
  const verifier = { fields: { y: 2, x: 1 }, type: 'exact' };
  expect(instancesProblem(tasks, { kind: 'tasks', tasks: 'digest', verifier })).toBeNull();
});

test('data sets are named where a name is known, and side a as asked', () => {
  const names = { a: 'ses_1 ("First")', datasets: new Map([['ds_2', 'mails.csv']]) };
  const text = instancesProblem(rows, { ...rows, datasetId: 'ds_2' } as Instances, names);
  expect(text).toContain('ds_2 ("mails.csv")');
  expect(text).toMatch(/ses_1 \("First"\) .*ds_1$/);
});

test.each<[Instances, object]>([
  [rows, { datasetId: 'ds_2' }],
  [rows, { expected: null }],
  [rows, { scorer: { kind: 'contains' } }],
  [container, { url: 'http://127.0.0.1:10' }],
  [container, { envName: 'test' }],
  [container, { envConfig: { split: 'test' } }],
  [tasks, { tasks: 'other' }],
  [tasks, { verifier: { type: 'contains' } }],
  [traffic, { jobId: 'ses_2' }],
  [container, rows],
  [traffic, tasks],
])('%j differ by %j', (instances, change) => {
  expect(instancesProblem(instances, { ...instances, ...change } as Instances)).not.toBeNull();
});
