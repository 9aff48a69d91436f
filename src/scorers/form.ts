/** What a form shows of a scorer, as plain JSON. */

interface FieldOf<Kind extends string, Name extends string> {
  kind: Kind;
  name: Name;
  label: string;
  hint?: string;
  isRequired?: true;
}

/** `on`: the value of a marked box; an unmarked one is left out. */
type CheckField<Name extends string> = FieldOf<'check', Name> & { on: boolean };
type ChoiceField<Name extends string> = FieldOf<'choice', Name> & { choices: readonly string[] };

export type FormField<Name extends string = string> =
  FieldOf<'text' | 'area' | 'number' | 'list' | 'value', Name> | CheckField<Name> | ChoiceField<Name>;

export interface ScorerForm<Name extends string = string> {
  label: string;
  fields: readonly FormField<Name>[];
}
