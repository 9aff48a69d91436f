/** Suggests a prompt and a scorer from the rows, and fills in those that the user left empty. */
import { useEffect, useMemo } from 'preact/hooks';
import { showsOptions, shownColumns } from '../../../../../src/core/prompts/columns.js';
import { draftPrompt } from '../../../../../src/core/prompts/drafted.js';
import { guessScorer, type ScorerGuess } from '../../../../../src/scorers/guess.js';
import { isUnwritten, type Dataset, type PromptMessage } from './draft.js';
import type { DataRows } from './facts.js';
import { change, draft } from './store.js';

export interface Guesses {
  /** Undefined: no data, or no column to read. */
  prompt: PromptMessage[] | undefined;
  scorer: ScorerGuess | undefined;
}

/** The guesses for the chosen columns, which the form takes where it may. */
export function useGuesses(dataset: Dataset | undefined, rows: DataRows | undefined): Guesses {
  const { input, expected, guessedScorer } = draft.value;
  const scorer = useMemo(
    () => (dataset && rows && expected !== '' ? scorerOf(dataset, rows, expected) : undefined),
    [dataset, rows, expected],
  );
  useEffect(() => {
    if (scorer && guessedScorer !== null && scorer.type !== guessedScorer)
      change({ scorer: { type: scorer.type, values: {} }, guessedScorer: scorer.type });
  }, [scorer, guessedScorer]);
  const prompt =
    dataset && input !== '' ? promptOf(dataset, { input, expected }, scorer?.isMarked ?? false) : undefined;
  const text = prompt && JSON.stringify(prompt);
  useEffect(() => {
    if (prompt && isUnwritten(draft.value)) change({ messages: prompt, drafted: text! });
  }, [text]);
  return { prompt, scorer };
}

const labelsOf = ({ columns }: Dataset, expected: string) =>
  columns.find(({ name }) => name === expected)?.labels ?? [];

function scorerOf(dataset: Dataset, rows: DataRows, expected: string): ScorerGuess {
  const answers = rows.map((row) => row[expected]);
  return guessScorer(answers, labelsOf(dataset, expected).length > 0);
}

function promptOf(dataset: Dataset, chosen: { input: string; expected: string }, isMarked: boolean): PromptMessage[] {
  const { input, expected } = chosen;
  const shown = shownColumns(dataset.columns, chosen);
  const labels = showsOptions(shown) ? [] : labelsOf(dataset, expected);
  return draftPrompt({
    input,
    shown,
    expected: expected || null,
    labels: labels.map(({ label }) => label),
    isMarked,
  });
}
