import { compareToZero, sampleOf } from '../../src/core/math/statistics.js';
import { markdownTable } from '../table.js';
import type { Usage } from './model/client.js';

/** A contestant on one split of a task. */
export interface TextResult {
  task: string;
  contestant: string;
  split: number;
  right: number;
  of: number;
  usage: Usage;
  promptTokens: number;
  seconds: number;
}

const heads = [
  'task',
  'contestant',
  'splits',
  'right on unseen rows',
  'worst split',
  'policy calls',
  'proposer calls',
  'policy tokens',
  'proposer tokens',
  'prompt tokens',
  's',
];

/** Means over splits, with 95 % intervals of the mean from two splits on. */
export function textTable(results: readonly TextResult[]): string {
  const groups = new Map<string, TextResult[]>();
  for (const result of results) {
    const key = `${result.task}\n${result.contestant}`;
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return markdownTable(heads, [...groups.values()].map(cellsOf));
}

function cellsOf(results: readonly TextResult[]): string[] {
  const shares = results.map(({ right, of }) => right / of);
  const mean = (value: (result: TextResult) => number) => {
    return Math.round(results.reduce((sum, result) => sum + value(result), 0) / results.length).toLocaleString('en-US');
  };
  const { task, contestant } = results[0]!;
  return [
    task,
    contestant,
    String(results.length),
    shareWithInterval(shares),
    Math.min(...shares).toFixed(2),
    mean(({ usage }) => usage.policy.calls),
    mean(({ usage }) => usage.proposer.calls),
    mean(({ usage: { policy } }) => policy.promptTokens + policy.completionTokens),
    mean(({ usage: { proposer } }) => proposer.promptTokens + proposer.completionTokens),
    mean(({ promptTokens }) => promptTokens),
    mean(({ seconds }) => seconds),
  ];
}

function shareWithInterval(shares: readonly number[]): string {
  const sample = sampleOf(shares);
  if (shares.length < 2) return sample.mean.toFixed(2);
  const { low, high } = compareToZero(sample);
  return `${sample.mean.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}
