/** A reason not to start that the operator can fix. `message` states the problem, `advice` the next step. */
export class SetupError extends Error {
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupError';
    this.advice = advice;
  }
}
