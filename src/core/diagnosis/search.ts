/** What a search found, or why it found nothing. The first rule that holds speaks. */
import { isSolved } from '../math/rewards.js';
import { diagnoseAnswers } from './answers.js';
import { isBudgetEnd, moreBudget } from './budget.js';
import { mostFacts, type Action, type Diagnosis, type SearchRecord } from './diagnosis.js';
import { proposalsOf, proposalWords } from './proposals.js';
import { counted, grouped, signed } from '../math/words.js';
import { listed, rewardText, roundUp } from './words.js';

type Rule = (record: SearchRecord) => Omit<Diagnosis, 'rows'> | null;

/** Null: nothing is to be said yet, or the run's error says it. */
export function diagnoseSearch(record: SearchRecord): Diagnosis | null {
  const ofAnswers = diagnoseAnswers(record);
  if (ofAnswers) return { ...ofAnswers, facts: withProposals(ofAnswers.facts, record) };
  if (!record.isEnded || record.best === null) return null;
  for (const rule of rules) {
    const found = rule(record);
    if (found) return { ...found, facts: found.facts.slice(0, mostFacts), rows: [] };
  }
  return null;
}

/** The share of the history in which a gain counts as recent. */
const recentShare = 1 / 3;
/** A mean above this is as good as all right. */
const ceiling = 0.98;
/** Of the mean reward, from the rows that chose to held-out ones. */
const overfitLoss = 0.1;
/** Fewer rows choose a candidate by luck: one answer is more than a twentieth of the mean. */
const fewToChoose = 20;
/** More rows than one evaluation can have. */
const mostRowsNeeded = 10_000;
/** Outcomes of proposals in a sentence. */
const reasonsShown = 4;

const rules: Rule[] = [
  nothingToGain,
  noProposalSurvived,
  tooFewToChoose,
  tooFewRows,
  overfit,
  lostInNoise,
  budgetEnded,
  better,
  worse,
  noBetter,
];

const deploy = (what: string): Action => ({ kind: 'deploy', label: `Deploy the ${what}` });
const moreRows = (label: string): Action => ({ kind: 'more_rows', label });

function nothingToGain({ baseline, isBaselineBest, unit, thing }: SearchRecord): ReturnType<Rule> {
  if (!isBaselineBest || baseline === null || baseline < ceiling) return null;
  const found = isSolved(baseline)
    ? `your ${thing} already gets every ${unit} right`
    : `your ${thing} already scores ${rewardText(baseline)}`;
  return {
    code: 'nothing_to_gain',
    sentence: `There is nothing to gain: ${found}.`,
    facts: [`Harder ${unit}s would show a difference between ${thing}s.`],
    action: deploy('baseline'),
  };
}

function noProposalSurvived(record: SearchRecord): ReturnType<Rule> {
  const { proposals, isBaselineBest, thing } = record;
  const all = proposalsOf(proposals);
  if (!isBaselineBest || all === 0 || proposals.accepted > 0) return null;
  const failed = proposals.refused.find(({ cause }) => cause === 'failed' || cause === 'unusable');
  const other: Action = { kind: 'new_run', label: 'New run with another proposer model' };
  return {
    code: 'no_proposal_survived',
    sentence: `No new ${thing} beat yours: of ${counted(all, 'proposal')}, ${listed(proposalWords(proposals), reasonsShown)}.`,
    facts: [
      ...(failed ? [`The commonest reason: ${failed.example}.`.replace(/\.\.$/, '.')] : []),
      ...aboutRows(record),
    ],
    action: firstExtension(record) ?? other,
  };
}

function tooFewToChoose(record: SearchRecord): ReturnType<Rule> {
  const { evaluationRows: rows, isBaselineBest, baseline, proposals, thing, unit } = record;
  if (!isBaselineBest || baseline === null || rows === null || rows >= fewToChoose) return null;
  if (proposals.accepted === 0) return null;
  const few = counted(rows, `evaluation ${unit}`);
  const verb = rows === 1 ? 'is' : 'are';
  return {
    code: 'too_few_rows',
    sentence: `No new ${thing} scored more than yours (${rewardText(baseline)}) on the ${few} that choose, which ${verb} too few to choose by.`,
    facts: [ofProposals(proposals), ...aboutRows(record)],
    action: moreRows(`Run again with more ${unit}s`),
  };
}

function tooFewRows({ comparison, thing, unit }: SearchRecord): ReturnType<Rule> {
  if (comparison?.verdict !== 'inconclusive' || comparison.difference <= 0) return null;
  const { rows, rowsNeeded, difference } = comparison;
  if (rowsNeeded === null || rowsNeeded <= rows || rowsNeeded > mostRowsNeeded) return null;
  const more = grouped(roundUp(rowsNeeded - rows));
  return {
    code: 'too_few_rows',
    sentence: `The new ${thing} may be better (${signed(difference)}), but ${rowsOf(comparison, unit)} cannot show it: about ${more} more would show a difference of this size.`,
    facts: [meansOf(comparison, unit), intervalOf(comparison)],
    action: moreRows(`Give about ${more} more ${unit}s`),
  };
}

function overfit({ comparison, baseline, best, thing, unit, isBaselineBest }: SearchRecord): ReturnType<Rule> {
  if (isBaselineBest || comparison?.basis !== 'heldout' || comparison.verdict === 'better') return null;
  const { winner, difference } = comparison;
  if (baseline === null || best === null || best <= baseline) return null;
  const isLost = best - winner >= overfitLoss && difference < (best - baseline) / 2;
  if (!isLost) return null;
  return {
    code: 'overfit',
    sentence: `The new ${thing} fits the ${unit}s that chose it and no others: ${rewardText(best)} there, ${rewardText(winner)} on ${rowsOf(comparison, unit)}.`,
    facts: [meansOf(comparison, unit), `More ${unit}s to search on make this rarer.`],
    action: moreRows(`Run again with more ${unit}s`),
  };
}

function lostInNoise({
  comparison,
  baseline,
  best,
  noise,
  thing,
  unit,
  isBaselineBest,
}: SearchRecord): ReturnType<Rule> {
  if (isBaselineBest || comparison?.verdict !== 'inconclusive' || baseline === null || best === null) return null;
  const gain = best - baseline;
  if (noise === null || noise <= 0 || gain > noise) return null;
  return {
    code: 'noise',
    sentence: `The gain (${signed(gain)}) is smaller than the noise: the same ${thing} moves by ±${rewardText(noise)} from one run to the next.`,
    facts: [meansOf(comparison, unit), intervalOf(comparison)],
    action: moreRows(`Run again with more ${unit}s`),
  };
}

function budgetEnded(record: SearchRecord): ReturnType<Rule> {
  const { comparison, thing, unit, stoppedBy, isBaselineBest } = record;
  if (isBaselineBest || comparison?.verdict === 'worse' || !isBudgetEnd(stoppedBy) || !isImproving(record)) return null;
  const action = moreBudget(record);
  if (action === null) return null;
  const found =
    comparison?.verdict === 'better'
      ? `The new ${thing} is better (${signed(comparison.difference)}), and`
      : `A better ${thing} was found late, and`;
  return {
    code: 'budget_ended',
    sentence: `${found} the search was still improving when its budget ended.`,
    facts: comparison ? [meansOf(comparison, unit), intervalOf(comparison)] : [],
    action,
  };
}

/**
 * Whether a candidate of the last part of the history, after the last extension, raised the best
 * reward: an evaluation at the end alone shows no progress there.
 */
function isImproving({ history, bestGeneration, extendedAt }: SearchRecord): boolean {
  const last = history.length - 1;
  const from = Math.max(Math.floor(last * (1 - recentShare)), (extendedAt ?? 1) - 1);
  return history[last]! > history[from]! && (bestGeneration === null || bestGeneration > from);
}

/** More budget for a search that found nothing, unless more has brought nothing before. */
function firstExtension(record: SearchRecord): Action | null {
  return record.extendedAt === null ? moreBudget(record) : null;
}

function better(record: SearchRecord): ReturnType<Rule> {
  const { comparison, thing, unit } = record;
  if (comparison?.verdict !== 'better') return null;
  const standing =
    comparison.basis === 'heldout'
      ? `The search never saw these ${unit}s.`
      : `These ${unit}s chose it, so the gain is flattered: hold out ${unit}s for a fair one.`;
  return {
    code: 'better',
    sentence: `The new ${thing} is better on ${rowsOf(comparison, unit)}: ${rewardText(comparison.baseline)} became ${rewardText(comparison.winner)}.`,
    facts: [standing, intervalOf(comparison), ...aboutRows(record)],
    action: deploy('winner'),
  };
}

function worse({ comparison, thing, unit }: SearchRecord): ReturnType<Rule> {
  if (comparison?.verdict !== 'worse') return null;
  return {
    code: 'worse',
    sentence: `The new ${thing} is worse on ${rowsOf(comparison, unit)}: ${rewardText(comparison.baseline)} became ${rewardText(comparison.winner)}. Keep yours.`,
    facts: [intervalOf(comparison)],
    action: null,
  };
}

function noBetter(record: SearchRecord): ReturnType<Rule> {
  const { comparison, thing, unit, isBaselineBest, baseline, evaluationRows, nothingLeft, proposals } = record;
  if (isBaselineBest) {
    const rows = evaluationRows === null ? '' : ` on ${counted(evaluationRows, `evaluation ${unit}`)}`;
    const read: Action = { kind: 'read_rows', label: 'Read the wrong answers' };
    const harder = nothingLeft === 'train_solved' ? moreRows(`Run again with more or harder ${unit}s`) : null;
    const action = harder ?? firstExtension(record) ?? read;
    const help = `Feedback that says what each wrong answer lacks helps most, then another proposer model or more ${unit}s.`;
    return {
      code: 'no_better',
      sentence: `No better ${thing} was found: yours scores ${rewardText(baseline ?? 0)}${rows}.`,
      facts: [ofProposals(proposals), ...(action === read ? [help] : []), ...aboutRows(record)],
      action,
    };
  }
  if (!comparison) return null;
  return {
    code: 'no_better',
    sentence: `The new ${thing} is not shown to be better on ${rowsOf(comparison, unit)}: ${rewardText(comparison.baseline)} became ${rewardText(comparison.winner)}.`,
    facts: [intervalOf(comparison)],
    action: moreRows(`Run again with more ${unit}s`),
  };
}

type Compared = NonNullable<SearchRecord['comparison']>;

const meansOf = (compared: Compared, unit: string) =>
  `Mean reward ${rewardText(compared.baseline)} before, ${rewardText(compared.winner)} after, on ${rowsOf(compared, unit)}.`;

const rowsOf = ({ basis, rows }: Compared, unit: string) =>
  counted(rows, basis === 'heldout' ? `held-out ${unit}` : unit);

/** The interval of the difference; of one pair it has no bounds. */
function intervalOf({ interval: { low, high } }: Compared): string {
  const isBounded = Math.max(Math.abs(low), Math.abs(high)) < 1e100;
  return isBounded
    ? `The difference is ${signed(low)} to ${signed(high)} with 95 % confidence.`
    : 'One row tells nothing of others.';
}

/** Rows that the search has used up, and those that it left alone. */
function aboutRows({ comparison, isBaselineBest, heldoutRows, nothingLeft, unit }: SearchRecord): string[] {
  const isUnseen = isBaselineBest && (heldoutRows ?? 0) > 0 && comparison?.basis !== 'heldout';
  return [
    ...(nothingLeft === 'train_solved'
      ? [
          `A candidate solves every train ${unit}, so more answers would change nothing: add ${unit}s that it gets wrong.`,
        ]
      : []),
    ...(isUnseen
      ? [`${counted(heldoutRows!, `held-out ${unit}`)} did not run and stay unseen: the baseline is the best.`]
      : []),
  ];
}

/** What became of the proposals, as a sentence. */
function ofProposals(proposals: SearchRecord['proposals']): string {
  const all = proposalsOf(proposals);
  return all === 0
    ? 'No proposal was written.'
    : `Of ${counted(all, 'proposal')}, ${listed(proposalWords(proposals), reasonsShown)}.`;
}

/** A fact about the proposals, if there is room for it. */
function withProposals(facts: readonly string[], { proposals }: SearchRecord): string[] {
  return [...facts, ...(proposalsOf(proposals) > 0 ? [ofProposals(proposals)] : [])].slice(0, mostFacts);
}
