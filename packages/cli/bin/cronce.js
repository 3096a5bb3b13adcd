#!/usr/bin/env node
// Not built, so that it is there to be linked when the packages are installed from a checkout.
import '../dist/main.js'
