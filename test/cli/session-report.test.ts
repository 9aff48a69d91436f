import { expect, test } from '@jest/globals';
import { choiceText, shorterText } from '../../src/cli/commands/session-report.js';
import { candidateId } from '../../src/core/jobs/ids.js';

type Weighed = Parameters<typeof choiceText>[0];
type Best = Parameters<typeof choiceText>[1];

const id = (version: number) => candidateId('ses_1', version);
const best = (version: number) => ({ candidate_id: id(version), is_baseline: version === 0 }) as Best;
const weighed = (version: number, reward: number, tokens: number): Weighed[0] => ({
  candidate_id: id(version),
  reward,
  cost_usd: 0.001,
  tokens,
  calls: 1,
  latency_ms: 250,
  prompt_tokens: tokens,
});

test('offers what is shorter than the best prompt, by its id', () => {
  const front = [weighed(7, 0.9, 350), weighed(3, 0.85, 120), weighed(0, 0.6, 20)];
  const lines = choiceText(front, best(7))!.split('\n').slice(1);
  expect(lines.map((line) => /cand_\w+/.exec(line)![0])).toEqual([id(7), id(3)]);
  expect(lines[1]).toMatch(/0\.850, 120 prompt tokens/);
});

test.each<[string, Weighed, Best]>([
  ['the baseline alone is shorter', [weighed(7, 0.9, 350), weighed(0, 0.6, 20)], best(7)],
  ['the baseline is the best', [weighed(0, 0.9, 20), weighed(3, 0.8, 10)], best(0)],
  ['nothing was evaluated', [], null],
])('offers nothing where %s', (_, front, winner) => {
  expect(choiceText(front, winner)).toBeNull();
});

test('names the parts that can leave the prompt, and the candidate without them', () => {
  const demonstration = { kind: 'demonstration', seed: 4, text: '12 EUR' } as const;
  const sentence = { kind: 'sentence', component: 'system', text: 'Be brief.' } as const;
  const removed = [sentence, demonstration, demonstration];
  const lines = shorterText({ candidate_id: id(9), removed, tested_rows: 6, reward: null }).split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/2 demonstrations and 1 sentence\b.*\b6 /);
  expect(lines[1]).toContain(sentence.text);
  expect(lines[2]).toContain(id(9));
});
