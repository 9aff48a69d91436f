import { z } from 'zod';

/** Inputs that several tools have. */
export const id = z
  .string()
  .describe('Id of a session (ses_…), an evaluation (evl_…), a graph job (grf_…) or a deployment.');
export const fields = z
  .array(z.string())
  .default([])
  .describe('Further fields by the names of the API, such as split; a wrong name is answered with all names.');
