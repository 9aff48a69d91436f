/** The service cannot use its database; the message is one line that says what to do. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError';
}
