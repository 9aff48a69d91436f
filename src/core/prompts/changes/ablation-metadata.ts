/** The metadata of an evaluation without an edit. */
export const ablationMetadata = {
  candidate: 'without_edit_of',
  against: 'without_edit_against',
  component: 'without_component',
  sentence: 'without_sentence',
} as const;
