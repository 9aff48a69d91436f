/** A job that ended as failed, or not as asked: exit code 1 without a stack. */
export class FailedJob extends Error {}
