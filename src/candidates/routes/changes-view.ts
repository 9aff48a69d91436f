import type { z } from 'zod';
import { demosPart } from '../../core/jobs/ids.js';
import { mean } from '../../core/math/rewards.js';
import { attribute } from '../../core/prompts/attribution.js';
import {
  demoText,
  partsOf,
  promptChanges,
  sentenceEdits,
  type Edit,
  type PromptTexts,
} from '../../core/prompts/changes/changes.js';
import { wordPieces } from '../../core/prompts/changes/words.js';
import type { Tx } from '../../platform/db/db.js';
import { groupBy } from '../../util/group.js';
import type { changesSchema } from '../contract/changes.js';
import { candidateTexts } from '../store/candidates.js';
import { readPairedRows, readTests, type PairedRows, type RewardPair } from '../store/evidence.js';
import { readFeedback, readOutcomes, type Ancestor, type Outcome } from '../store/lineage.js';
import { exampleView } from './reflection-view.js';

type Changes = z.output<typeof changesSchema>;
type Author = Changes['authors'][number];

const limits = {
  edits: 500,
  /** Candidates whose evidence is shown, the youngest first. */
  authors: 100,
  feedback: 5,
  feedbackBytes: 500,
  /** Rows of each direction. */
  rows: 20,
};

export const textsOf = (candidate: Ancestor): PromptTexts => new Map(Object.entries(candidateTexts(candidate)));

/** All edits that make a candidate's prompt of another's, demonstrations included. */
export function editsBetween(before: Ancestor, after: Ancestor): Edit[] {
  const demosOf = ({ demos }: Ancestor) => demos.map(demoText);
  const { edits } = promptChanges(textsOf(before), textsOf(after));
  return [...edits, ...sentenceEdits(demosPart, demosOf(before), demosOf(after))];
}

/** `line`: the ancestors of the candidate, then itself. */
export async function changesView(
  tx: Tx,
  jobId: string,
  line: readonly Ancestor[],
  before: Ancestor,
): Promise<Omit<Changes, 'job_id' | 'ablation'>> {
  const self = line.at(-1)!;
  const all = editsBetween(before, self);
  const origins = sentenceAuthors(line);
  const removers = new Removers(line);
  const edits = all.slice(0, limits.edits).map((edit) => ({
    ...edit,
    words: edit.kind === 'changed' ? wordPieces(edit.before!, edit.after!) : null,
    author_id: edit.to === null ? removers.of(edit) : (origins.get(edit.component)?.[edit.to] ?? null),
  }));
  const named = new Set([...origins.values()].flat());
  for (const { author_id: id } of edits) if (id !== null) named.add(id);
  const authors = line.filter(({ id }) => named.has(id)).slice(-limits.authors);
  return {
    candidate_id: self.id,
    against_id: before.id,
    edits,
    total: all.length,
    is_equal: all.length === 0 && areEqual(textsOf(before), textsOf(self)),
    authors: await readAuthors(tx, jobId, authors, line),
  };
}

const areEqual = (one: PromptTexts, other: PromptTexts) =>
  one.size === other.size && [...one].every(([name, text]) => other.get(name) === text);

/** The candidate that wrote each sentence of the last of a line, by component. */
function sentenceAuthors(line: readonly Ancestor[]): Map<string, string[]> {
  const texts = line.map(textsOf);
  const versions = new Map(line.map(({ id, leverVersion }) => [id, leverVersion]));
  const ids = new Map(line.map(({ id, leverVersion }) => [leverVersion, id]));
  return new Map(
    [...texts.at(-1)!.keys()].map((component) => {
      const segments = attribute(
        line.map(({ leverVersion, parentIds }, index) => ({
          candidate: leverVersion,
          parents: parentIds.flatMap((id) => versions.get(id) ?? []),
          text: texts[index]!.get(component) ?? '',
        })),
      );
      return [component, segments.map(({ candidate }) => ids.get(candidate)!)];
    }),
  );
}

/** Finds the last candidate of a line that lacks a sentence which a parent has. */
class Removers {
  readonly #line: readonly Ancestor[];
  readonly #sentences: Map<string, Map<string, Set<string>>>;

  constructor(line: readonly Ancestor[]) {
    this.#line = line;
    this.#sentences = new Map(
      line.map((member) => [
        member.id,
        new Map([...textsOf(member)].map(([name, text]) => [name, new Set(partsOf(text).sentences)])),
      ]),
    );
  }

  of({ component, before }: Edit): string | null {
    const has = (id: string) => this.#sentences.get(id)?.get(component)?.has(before!) ?? false;
    return this.#line.findLast(({ id, parentIds }) => !has(id) && parentIds.some(has))?.id ?? null;
  }
}

async function readAuthors(
  tx: Tx,
  jobId: string,
  authors: readonly Ancestor[],
  line: readonly Ancestor[],
): Promise<Author[]> {
  const members = new Map(line.map((member) => [member.id, member]));
  const parentOf = ({ parentIds: [first] }: Ancestor) => members.get(first ?? '');
  const ids = authors.flatMap(({ id, parentIds }) => (parentIds.length > 0 ? [id] : []));
  const ordinalsOf = ({ reflection }: Ancestor) => reflection?.ordinals ?? [];
  const shown = authors.flatMap((author) => ordinalsOf(author).slice(0, limits.feedback));
  const feedback = await readFeedback(tx, jobId, [...new Set(shown)]);
  const tested = await readTestedPairs(tx, jobId, ids);
  const paired = await readPairedRows(tx, jobId, ids, limits.rows);
  return authors.map((author) => ({
    candidate_id: author.id,
    parent_ids: author.parentIds,
    generation: author.generation,
    is_baseline: author.leverVersion === 0,
    is_given: author.isGiven,
    feedback: ordinalsOf(author)
      .slice(0, limits.feedback)
      .flatMap((ordinal) => feedback.get(ordinal) ?? [])
      .map((example) => exampleView(example, limits.feedbackBytes)),
    feedback_total: ordinalsOf(author).length,
    num_edits: editsSince(parentOf(author), author),
    rows: author.parentIds.length === 0 ? null : rowsView(tested.get(author.id) ?? [], paired.get(author.id)),
  }));
}

/** How many edits a candidate made of its parent's prompt. */
const editsSince = (parent: Ancestor | undefined, author: Ancestor): number =>
  parent ? editsBetween(parent, author).length : 0;

/** The rows of recorded tests with a reward on both sides, by candidate. */
async function readTestedPairs(tx: Tx, jobId: string, ids: readonly string[]): Promise<Map<string, RewardPair[]>> {
  const tests = await readTests(tx, jobId, ids);
  const ordinals = [...tests.values()]
    .flat()
    .flatMap(([, before, ...own]) => (before === null ? [] : [before, ...own]));
  const outcomes = await readOutcomes(tx, jobId, ordinals);
  return new Map(
    [...tests].map(([id, seeds]) => [
      id,
      seeds.flatMap(([seed, before, ...own]) =>
        before === null
          ? []
          : (pairOf(
              seed,
              outcomes.get(before),
              own.flatMap((each) => outcomes.get(each) ?? []),
            ) ?? []),
      ),
    ]),
  );
}

function pairOf(seed: number, before: Outcome | undefined, own: readonly Outcome[]): RewardPair | null {
  const after = mean(own.flatMap(({ reward }) => reward ?? []));
  const earlier = before?.reward ?? null;
  return earlier === null || after === null ? null : { seed, before: earlier, after, rolloutId: own.at(-1)!.rolloutId };
}

function rowsView(tested: readonly RewardPair[], others: PairedRows | undefined): Author['rows'] {
  const { compared = 0, won = 0, lost = 0, differing = [] } = others ?? {};
  const ofTest = groupBy(tested, ({ before, after }) => Math.sign(after - before));
  const countOf = (sign: number) => ofTest.get(sign)?.length ?? 0;
  const all = [...tested, ...differing].sort((one, other) => gapOf(other) - gapOf(one) || one.seed - other.seed);
  const most = [1, -1].flatMap((sign) =>
    all.filter(({ before, after }) => Math.sign(after - before) === sign).slice(0, limits.rows),
  );
  return {
    compared: compared + tested.length,
    won: won + countOf(1),
    lost: lost + countOf(-1),
    differing: most.map(({ rolloutId, ...pair }) => ({ ...pair, rollout_id: rolloutId })),
  };
}

const gapOf = ({ before, after }: RewardPair) => Math.abs(after - before);
