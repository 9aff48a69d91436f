/** Whatever its origin, a text that breaks the rules of placeholders becomes no candidate. */
import { describe, expect, test } from '@jest/globals';
import { admitProposals, type Proposal } from '../../../activities/proposals/admit.js';
import { CandidatePool } from '../../../activities/proposals/pool.js';
import type { SessionSpec } from '../../../src/core/jobs/spec.js';
import type { ProposalRequest } from '../../../src/core/search/protocol.js';
import { anyGepa } from '../../support/job.js';

const content = 'Answer with a letter. {{Question Text}}';
const rows = { placeholders: { 'Question Text': 'Question Text' }, columns: ['Question Text', 'expected'] };
const spec = { kind: 'session', search: anyGepa, rows } as unknown as SessionSpec;
const baseline = { messages: [{ role: 'user' as const, content }], demos: [], graph: null, parents: [] };

function admit(proposal: Proposal, changes: Partial<SessionSpec> = {}) {
  const request: ProposalRequest = { kind: 'rewrite', candidate: 1, parent: 0, generation: 1, ordinals: [] };
  return admitProposals(new CandidatePool(new Map([[0, baseline]])), { ...spec, ...changes }, [request], [proposal]);
}

const origins: [string, (user: string) => Proposal][] = [
  ['a rewrite', (user) => ({ outcome: 'proposed', texts: { user }, components: ['user'] })],
  ['a merge', (user) => ({ outcome: 'merged', texts: { user }, parents: [0, 0] })],
  ['a composition', (user) => ({ outcome: 'composed', texts: { user }, demos: [], parents: [0] })],
  ["a person's prompt", (user) => ({ outcome: 'given', texts: { user }, commandId: 'cmd_1' })],
];

describe.each(origins)('%s', (_, of) => {
  test.each([
    ['loses its placeholder', 'Answer MAGIC.'],
    ['renames it', 'Answer MAGIC. {{question_text}}'],
    ['writes it in single braces', 'Answer MAGIC. {Question Text}'],
    ['escapes it', 'Answer MAGIC. &#123;&#123;Question Text&#125;&#125;'],
    ['filters it', 'Answer MAGIC. {{ Question Text | trim }}'],
    ['adds the right answer', 'Answer MAGIC. {{Question Text}} {{expected}}'],
    ['adds an unknown name', 'Answer MAGIC. {{Question Text}} {{hint}}'],
    ['is too long', `${'x'.repeat(33_000)} {{Question Text}}`],
  ])('that %s is refused, and nothing is stored', (_, text) => {
    const { answers, candidates } = admit(of(text));
    expect(answers).toMatchObject([{ candidate: 1, outcome: 'failed' }]);
    expect(candidates).toEqual([]);
  });

  test('that is longer than max_prompt_tokens is refused, and one that fits is none', () => {
    const text = `${'word '.repeat(20)}{{Question Text}}`;
    const tokens = Math.ceil(text.length / 4);
    const reasonAt = (maxPromptTokens: number) => admit(of(text), { maxPromptTokens }).answers[0];
    expect(reasonAt(tokens - 1)).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining(`${tokens} tokens`),
    });
    expect(reasonAt(tokens)).toMatchObject({ outcome: 'proposed' });
  });

  test('that keeps its placeholder is a candidate', () => {
    const { answers, candidates } = admit(of('Answer MAGIC. {{"a": 1}} {{ Question Text }}'));
    expect(answers).toMatchObject([{ candidate: 1, outcome: 'proposed' }]);
    expect(candidates).toHaveLength(1);
  });
});
