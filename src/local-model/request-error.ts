/** An invalid request; `param` names the field. */
export class LocalRequestError extends Error {
  readonly param: string;
  constructor(param: string, message: string) {
    super(message);
    this.name = 'LocalRequestError';
    this.param = param;
  }
}
