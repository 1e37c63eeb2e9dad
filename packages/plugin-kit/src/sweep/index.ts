export { type SweepOptions, sweepRegularly } from './sweep.ts'
