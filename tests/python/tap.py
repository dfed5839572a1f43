"""Runs the test files of this folder and says TAP. Names of tests are sentences."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Tap(unittest.TestResult):
    number = 0
    bad = False

    def say(self, test, good, more=""):
        self.number += 1
        self.bad |= not good
        sentence = test._testMethodName[len("test_"):].replace("_", " ")
        print(f"{'ok' if good else 'not ok'} {self.number} - {sentence}{more}", flush=True)

    def addSuccess(self, test):
        self.say(test, True)

    def addSkip(self, test, reason):
        self.say(test, True, f" # SKIP {reason}")

    def tell(self, test, error):
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}")
        self.say(test, False)

    addError = addFailure = tell


def main():
    sys.path[:0] = [HERE, os.path.join(HERE, "fake"), os.path.join(HERE, "../../python")]
    suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
    result = Tap()
    suite.run(result)
    print(f"1..{result.number}")
    sys.exit(1 if result.bad else 0)


main()
