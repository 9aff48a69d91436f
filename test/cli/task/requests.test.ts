import { expect, test } from '@jest/globals';
import { evaluationRequest, sessionRequest } from '../../../src/cli/task/requests.js';

const fields = { dataset: { dataset_id: 'ds_1' }, scorer: 'exact' as const, policy: { provider: 'local', model: 'm' } };
const prompt = { messages: [{ role: 'user' as const, content: '{{text}}' }] };

test('a run without a name is called as the file of its rows', () => {
  const nameOf = (data: string | undefined, name?: string) =>
    [
      sessionRequest(fields as never, { data } as never, prompt as never, { algorithm: 'gepa', name }),
      evaluationRequest(fields as never, { data }, prompt as never, { name }),
    ].map((request) => request.name);
  expect(nameOf('some/folder/rows.csv')).toEqual(['rows.csv', 'rows.csv']);
  expect(nameOf('rows.csv', 'mine')).toEqual(['mine', 'mine']);
  expect(nameOf(undefined)).toEqual([undefined, undefined]);
  expect(nameOf(`${'x'.repeat(250)}.csv`)[0]).toHaveLength(200);
});
