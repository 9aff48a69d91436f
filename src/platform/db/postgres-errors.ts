/** Classification of errors of Postgres and of the connection to it. */

/** `transient`: the same statement may succeed later. `permanent`: it never does. */
type Kind = 'transient' | 'permanent';

/** By SQLSTATE, by its class (the first two characters), and by system error code. */
const kinds: Record<string, Kind> = {
  '08': 'transient', // connection
  '0A': 'permanent', // feature not supported
  '21': 'permanent', // cardinality violation
  '22': 'permanent', // data
  '23': 'permanent', // constraint violation
  '25006': 'transient', // read-only: a standby during a fail-over
  '25P03': 'transient', // idle in transaction for too long
  '25P04': 'transient', // transaction timeout
  '28': 'transient', // authorization, while a password is changed
  '3D': 'transient', // no such database, during a restore
  '40': 'transient', // serialization failure, deadlock
  '42': 'permanent', // syntax, missing rights
  '44': 'permanent', // check option, row-level security
  '53': 'transient', // out of connections, memory or disk space
  '54': 'permanent', // a limit of Postgres, such as the size of a value
  '55': 'transient', // lock not available
  '57': 'transient', // shutdown, statement timeout
  '58': 'transient', // system error, such as I/O
  XX: 'transient', // internal error
  EADDRNOTAVAIL: 'transient',
  EAI_AGAIN: 'transient',
  ECONNABORTED: 'transient',
  ECONNREFUSED: 'transient',
  ECONNRESET: 'transient',
  EHOSTUNREACH: 'transient',
  ENETUNREACH: 'transient',
  ENOENT: 'transient', // no Unix socket
  ENOTFOUND: 'transient',
  EPIPE: 'transient',
  ERR_STREAM_DESTROYED: 'transient',
  ETIMEDOUT: 'transient',
};

/** Errors of the client `pg` without a code. */
const clientErrors =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client (has encountered a connection error|was closed) and is not queryable)/;

/** Whether a retry may succeed: no connection, or a passing condition of the server. */
export function isTransient(error: unknown): boolean {
  return errorKind(error) === 'transient' || (error instanceof Error && clientErrors.test(error.message));
}

/** Whether Postgres refuses the statement or its data: no retry succeeds. */
export function isPermanent(error: unknown): boolean {
  return errorKind(error) === 'permanent';
}

/** Whether Postgres cannot store a value: out of range or malformed. */
export function isDataError(error: unknown): boolean {
  return errorCode(error).length === 5 && errorCode(error).startsWith('22');
}

const resources: Record<string, string> = {
  '53100': 'disk space',
  '53200': 'memory',
  '53300': 'connections',
};

/** What Postgres has run out of; null for other errors. */
export function exhaustedResource(error: unknown): string | null {
  const code = errorCode(error);
  return Object.hasOwn(resources, code) ? resources[code]! : null;
}

export function isUniqueViolation(error: unknown): boolean {
  return errorCode(error) === '23505';
}

/** The server is a standby, or told to refuse changes. */
export const isReadOnly = (error: unknown): boolean => errorCode(error) === '25006';

export const isWrongPassword = (error: unknown): boolean => errorCode(error) === '28P01';

/** The server starts, stops or restores. */
export const isCannotConnectNow = (error: unknown): boolean => errorCode(error) === '57P03';

function errorKind(error: unknown): Kind | undefined {
  const code = errorCode(error);
  if (Object.hasOwn(kinds, code)) return kinds[code];
  const sqlClass = code.length === 5 ? code.slice(0, 2) : '';
  return Object.hasOwn(kinds, sqlClass) ? kinds[sqlClass] : undefined;
}

/** SQLSTATE or system error code; empty: none. */
export function errorCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : '';
}
