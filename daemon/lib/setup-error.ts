/** A reason not to start that the operator can put right. `message` says what is wrong, `advice` what to do. */
export class SetupError extends Error {
  readonly advice: string;

  constructor(message: string, advice: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SetupError';
    this.advice = advice;
  }
}
