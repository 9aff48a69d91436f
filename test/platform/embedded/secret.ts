import type { KeptSecret } from '../../../src/platform/embedded/kept.js';

/** A secret of 8 characters. */
export const secret: KeptSecret = {
  name: 'secret-key',
  setting: 'RATCHET_SECRET',
  form: '8 characters',
  isWhole: (text) => text.length === 8,
  make: () => '12345678',
};
