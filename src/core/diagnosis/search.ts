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
/** More rows than one evaluation can have. */
const mostRowsNeeded = 10_000;
/** Outcomes of proposals in a sentence. */
const reasonsShown = 4;

const rules: Rule[] = [
  nothingToGain,
  noProposalSurvived,
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
  const { proposals, isBaselineBest, thing, stoppedBy } = record;
  const all = proposalsOf(proposals);
  if (!isBaselineBest || all === 0 || proposals.accepted > 0) return null;
  const failed = proposals.refused.find(({ cause }) => cause === 'failed' || cause === 'unusable');
  const other: Action = { kind: 'new_run', label: 'New run with another proposer model' };
  return {
    code: 'no_proposal_survived',
    sentence: `No new ${thing} beat yours: of ${counted(all, 'proposal')}, ${listed(proposalWords(proposals), reasonsShown)}.`,
    facts: failed ? [`The commonest reason: ${failed.example}.`.replace(/\.\.$/, '.')] : [],
    action: (isBudgetEnd(stoppedBy) && moreBudget(record)) || other,
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
  if (!isBudgetEnd(stoppedBy) || isBaselineBest || comparison?.verdict === 'worse' || !isImproving(record)) return null;
  const found =
    comparison?.verdict === 'better'
      ? `The new ${thing} is better (${signed(comparison.difference)}), and`
      : `A better ${thing} was found late, and`;
  return {
    code: 'budget_ended',
    sentence: `${found} the search was still improving when its budget ended.`,
    facts: comparison ? [meansOf(comparison, unit), intervalOf(comparison)] : [],
    action: moreBudget(record) ?? deploy('winner'),
  };
}

/** Whether the best reward rose in the last part of the history. */
function isImproving({ history }: SearchRecord): boolean {
  const from = Math.floor((history.length - 1) * (1 - recentShare));
  return history.length > 1 && history.at(-1)! > history[from]!;
}

function better({ comparison, thing, unit }: SearchRecord): ReturnType<Rule> {
  if (comparison?.verdict !== 'better') return null;
  const standing =
    comparison.basis === 'heldout'
      ? `The search never saw these ${unit}s.`
      : `These ${unit}s chose it, so the gain is flattered: hold out ${unit}s for a fair one.`;
  return {
    code: 'better',
    sentence: `The new ${thing} is better on ${rowsOf(comparison, unit)}: ${rewardText(comparison.baseline)} became ${rewardText(comparison.winner)}.`,
    facts: [standing, intervalOf(comparison)],
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
  const { comparison, thing, unit, isBaselineBest, baseline, stoppedBy, proposals } = record;
  const all = proposalsOf(proposals);
  if (isBaselineBest) {
    const tried = all === 0 ? 'none was written' : listed(proposalWords(proposals), reasonsShown);
    return {
      code: 'no_better',
      sentence: `No better ${thing} was found: yours scores ${rewardText(baseline ?? 0)}.`,
      facts: [`Of ${counted(all, 'proposal')}, ${tried}.`],
      action: isBudgetEnd(stoppedBy) ? (moreBudget(record) ?? deploy('baseline')) : deploy('baseline'),
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

/** A fact about the proposals, if there is room for it. */
function withProposals(facts: readonly string[], { proposals }: SearchRecord): string[] {
  const all = proposalsOf(proposals);
  const ofProposals = all > 0 && `Of ${counted(all, 'proposal')}, ${listed(proposalWords(proposals), reasonsShown)}.`;
  return [...facts, ...(ofProposals ? [ofProposals] : [])].slice(0, mostFacts);
}
