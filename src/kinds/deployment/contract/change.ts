/** Body of PATCH of a deployment: its labels and its settings. */
import { z } from 'zod';
import { markFields } from '../../../contracts/control.js';
import { anyRequired } from '../../../contracts/rules.js';
import { valueAt } from '../../../contracts/validation.js';
import { changeFields } from './settings.js';

// The name of a deployment is the one that it serves.
const { name: _servedName, ...marks } = markFields;
const fields = { ...marks, ...changeFields };
const names = Object.keys(fields);

export const deploymentChangeSchema = z
  .strictObject(fields, 'must be a JSON object')
  .refine((body) => names.some((field) => valueAt(body, field) !== undefined), `must have one of ${names.join(', ')}`)
  .meta(anyRequired(...names));
