import { expect, test } from '@jest/globals';
import { othersFirst } from '../../../dashboard/src/pages/evaluation/others.js';

const job = (job_id: string, fields: { dataset_id?: string; url?: string; seeds?: number }) => ({
  job_id,
  container_url: fields.url ?? null,
  env_name: '',
  num_seeds: fields.seeds ?? 10,
  created_at: '',
  ...(fields.dataset_id !== undefined && {
    dataset: { dataset_id: fields.dataset_id, name: null, num_rows: 10, scorer: 'exact' },
  }),
});

const ordered = (own: ReturnType<typeof job>, others: ReturnType<typeof job>[]) =>
  othersFirst(own, others).map(({ other, likeness }) => [other.job_id, likeness]);

test('evaluations of the same data set come first, and not this one', () => {
  const others = [
    job('evl_other', { dataset_id: 'ds_2' }),
    job('evl_own', { dataset_id: 'ds_1' }),
    job('evl_container', { url: 'http://c' }),
    job('evl_same', { dataset_id: 'ds_1' }),
  ];
  expect(ordered(job('evl_own', { dataset_id: 'ds_1' }), others)).toEqual([
    ['evl_same', 2],
    ['evl_other', 0],
    ['evl_container', 0],
  ]);
});

test('on a container, as many seeds are alike, and other numbers are near', () => {
  const others = [job('evl_dataset', { dataset_id: 'ds_1' }), job('evl_few', { url: 'http://c', seeds: 5 })];
  expect(ordered(job('evl_own', { url: 'http://c' }), [...others, job('evl_alike', { url: 'http://c' })])).toEqual([
    ['evl_alike', 2],
    ['evl_few', 1],
    ['evl_dataset', 0],
  ]);
});
