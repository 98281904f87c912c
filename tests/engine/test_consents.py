"""A consent is good for one matching call and void after a change from elsewhere."""

from cirrus_env.engine.consents import Consents, LiveConsent


def agreed(**arguments: object) -> Consents:
    consents = Consents()
    consents.agree("StopInstance", "i-1", 4, arguments)
    return consents


def test_a_consent_covers_its_operation_and_resource_only():
    consents = agreed()
    assert consents.covering("StopInstance", "i-1", {"InstanceId": "i-1"}) == LiveConsent(4, {})
    assert consents.covering("StopInstance", "i-2", {}) is None
    assert consents.covering("DeleteInstance", "i-1", {}) is None


def test_consented_arguments_must_be_the_calls_own():
    consents = agreed(StoppedMode="StopCharging")
    assert consents.covering("StopInstance", "i-1", {"StoppedMode": "StopCharging"})
    assert consents.covering("StopInstance", "i-1", {"StoppedMode": "KeepCharging"}) is None
    assert consents.covering("StopInstance", "i-1", {}) is None


def test_a_consented_number_is_not_a_consented_flag():
    assert agreed(Force=1).covering("StopInstance", "i-1", {"Force": True}) is None


def test_what_departs_from_a_default_must_have_been_agreed_to():
    forced = {"InstanceId": "i-1", "ForceStop": True}
    assert agreed().covering("StopInstance", "i-1", forced, ["ForceStop"]) is None
    assert agreed(ForceStop=True).covering("StopInstance", "i-1", forced, ["ForceStop"])


def test_an_agreement_may_leave_an_argument_open():
    for given in ({}, {"Type": "online"}, {"Type": "offline"}):
        unusual = [name for name, value in given.items() if value != "offline"]
        assert agreed(Type="*").covering("StopInstance", "i-1", given, unusual)
    assert agreed(Type="*", Size=9).covering("StopInstance", "i-1", {"Type": "online"}) is None


def test_a_used_consent_is_gone():
    consents = agreed()
    consents.use("StopInstance", "i-1")
    assert consents.covering("StopInstance", "i-1", {}) is None
    consents.use("StopInstance", "i-1")


def test_a_change_from_elsewhere_voids_it_and_one_of_the_same_proposal_does_not():
    consents = agreed()
    consents.changed({"i-1"}, 4)
    assert consents.covering("StopInstance", "i-1", {})
    consents.changed({"i-9"}, None)
    assert consents.covering("StopInstance", "i-1", {})
    consents.changed({"i-1"}, None)
    assert consents.covering("StopInstance", "i-1", {}) is None


def test_a_copy_is_independent():
    consents = agreed()
    other = consents.copy()
    other.use("StopInstance", "i-1")
    assert consents.covering("StopInstance", "i-1", {})
