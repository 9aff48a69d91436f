/** The field of scorers that ignore case unless a request says otherwise. */
import { z } from 'zod';
import type { FormField } from './form.js';

export const caseField = z.boolean().optional().describe('exact, contains, json: whether case counts. Default false.');

export const caseBox: FormField<'case_sensitive'> = {
  kind: 'check',
  name: 'case_sensitive',
  label: 'Case-sensitive',
  on: true,
};
